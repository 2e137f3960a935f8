"""Models over HTTP: texts by OpenAI's protocol, arrays by the Open Inference Protocol, pictures; the extra ``serve``.

    a request --> guard: id, key, log, errors --> body: bounded --> fields, forms: what is asked, in numbers
              --> answers: texts on the worker of a model, whole or as server-sent events
              --> inference, pictures: arrays on the batcher of a network

embeddings     vectors of texts, on the worker of an encoder
application    all of it: ``create_application`` makes what uvicorn runs
loading        from names to models that are served
server         a socket, uvicorn, SIGTERM
metrics        what Prometheus reads
"""
