# relxl for a class: docker build -t relxl . && docker run --rm --read-only --tmpfs /tmp -p 8501:8501 relxl
# It needs no network when it runs: docker run --network none works too, from inside the container.
FROM python:3.11-slim AS build
WORKDIR /relxl
COPY requirements.txt .
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -r requirements.txt

FROM python:3.11-slim
RUN useradd --uid 1000 --create-home relxl
COPY --from=build /venv /venv
WORKDIR /relxl
COPY .streamlit .streamlit
COPY app.py asgi.py ./
COPY pages pages
COPY relxl relxl
COPY data data
COPY checkpoints checkpoints
RUN python -m compileall -q relxl pages app.py asgi.py
ENV HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 RELXL_HOSTS=localhost,127.0.0.1
USER 1000
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["/venv/bin/python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["/venv/bin/uvicorn", "asgi:app", "--host", "0.0.0.0", "--port", "8501"]
