#!/bin/sh
# Train the four bundled checkpoints anew, two at a time on one core each: about 80 minutes. A run cut off is resumed.
cd "$(dirname "$0")/.." || exit 1
train() { "$python" -m relxl train --threads 1 "$@"; }
python=$1
shakespeare="--text data/tinyshakespeare.txt --out checkpoints/shakespeare"
{
    train $shakespeare-learned --positions learned &&
    train $shakespeare-absolute --positions absolute
} > checkpoints/train-1.log 2>&1 &
first=$!
{
    train $shakespeare-sinusoid --positions sinusoid &&
    train --text data/songci.txt --out checkpoints/songci-learned --positions learned --steps 1500 --dropout 0.2
} > checkpoints/train-2.log 2>&1 &
echo "progress is in checkpoints/train-1.log and checkpoints/train-2.log"
wait $! && wait $first
