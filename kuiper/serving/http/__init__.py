"""Language models over HTTP, by the protocol of OpenAI's API; needs the packages of the extra ``serve``.

    a request --> guard: id, key, log, errors --> body: bounded JSON --> fields, forms: what is asked, in numbers
              --> answers: texts on the worker of a model, whole or as server-sent events

application    all of it: ``create_application`` makes what uvicorn runs
server         a socket, uvicorn, SIGTERM
metrics        what Prometheus reads
"""
