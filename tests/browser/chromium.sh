#!/bin/sh
# Make sure that there is a Chromium: the one on the path, else the system's package as root, else Playwright's own.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" > /dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    { apt-get install -y -qq chromium fonts-noto-cjk || { apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk; }; } > /dev/null 2>&1 && exit 0
fi
exec "$1/playwright" install chromium
