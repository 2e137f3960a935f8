"""Exercise 6.7."""

from __future__ import annotations

import json

import pytest

from kuiper.course import calling

PATH, EVENT_STREAM = "/generate", "text/event-stream"


class ClientGoneError(Exception):
    """Of the exercise's, by its name."""


class TooLargeError(Exception):
    """The same."""


def test_event_of_a_line(impl):
    calling(impl.event, "hello").gives(b"data: hello\n\n")


def test_event_of_several_lines(impl):
    calling(impl.event, "one\ntwo").gives(b"data: one\ndata: two\n\n")
    calling(impl.event, "one\n\ntwo\n").gives(b"data: one\ndata: \ndata: two\ndata: \n\n")


def test_event_without_text(impl):
    calling(impl.event, "").gives(b"data: \n\n")


def test_event_ends_lines_with_line_feeds_only(impl):
    calling(impl.event, "a\u2028b\x0cc").gives(b"data: a\xe2\x80\xa8b\x0cc\n\n")


def test_event_in_utf_8(impl):
    calling(impl.event, "Wörter").gives(b"data: W\xc3\xb6rter\n\n")


def bodies(impl, messages, most):
    """The body of a request that sends these messages, and how many of them were received."""
    from kuiper.course.plain_loop import run

    waiting = list(messages)

    async def receive():
        return waiting.pop(0)

    return run(impl.read_body(receive, most)), len(messages) - len(waiting)


def part(body, more_body=False):
    """A message with a part of a body."""
    return {"type": "http.request", "body": body, "more_body": more_body}


LEFT = {"type": "http.disconnect"}


def test_read_body_in_one_part(impl):
    calling(bodies, impl, [part(b"abc"), LEFT], 10).gives((b"abc", 1))


def test_read_body_in_parts(impl):
    calling(bodies, impl, [part(b"abc", True), part(b"", True), part(b"de", True), part(b"f"), LEFT], 10).gives(
        (b"abcdef", 4)
    )


def test_read_body_with_parts_left_out(impl):
    calling(bodies, impl, [{"type": "http.request"}, LEFT], 10).gives((b"", 1))
    calling(bodies, impl, [{"type": "http.request", "more_body": True}, part(b"x"), LEFT], 10).gives((b"x", 2))


def test_read_body_of_a_client_that_goes_away(impl):
    calling(bodies, impl, [part(b"abc", True), LEFT], 10).raises(ClientGoneError)
    calling(bodies, impl, [LEFT], 10).raises(ClientGoneError)


def test_read_body_just_small_enough(impl):
    calling(bodies, impl, [part(b"abc", True), part(b"de")], 5).gives((b"abcde", 2))


@pytest.mark.parametrize("messages", [[part(b"abcdef")], [part(b"abc", True), part(b"def", True), part(b"", True)]])
def test_read_body_too_large(impl, messages):
    calling(bodies, impl, messages, 5).raises(TooLargeError)


def too_large(impl, messages, most):
    """How many of these messages were received before the body was refused."""
    from kuiper.course.plain_loop import run

    waiting = list(messages)

    async def receive():
        return waiting.pop(0)

    try:
        run(impl.read_body(receive, most))
    except impl.TooLargeError:
        return len(messages) - len(waiting)
    return "the body was read"


def test_read_body_too_large_is_not_read_to_its_end(impl):
    calling(too_large, impl, [part(b"abc", True), part(b"def", True), part(b"g", True), part(b"h")], 5).gives(2)


def test_asked(impl):
    calling(impl.asked, b'{"prompt": "ROMEO:", "max_tokens": 3}').gives(("ROMEO:", 3))


def test_asked_without_a_number(impl):
    calling(impl.asked, b'{"prompt": "ROMEO:"}').gives(("ROMEO:", 16))


def test_asked_with_more_than_needed(impl):
    calling(impl.asked, b'{"max_tokens": 1, "stream": true, "prompt": "\\u00e4"}').gives(("ä", 1))
    calling(impl.asked, b'{"max_tokens": 1000, "prompt": " "}').gives((" ", 1000))


@pytest.mark.parametrize("body", [b"", b"{", b"prompt=ROMEO", b'{"prompt": "\xff"}'])
def test_asked_what_is_not_json(impl, body):
    calling(impl.asked, body).raises(ValueError)


@pytest.mark.parametrize("body", [b"[]", b'"ROMEO:"', b"3", b"null"])
def test_asked_what_is_no_object(impl, body):
    calling(impl.asked, body).raises(ValueError)


@pytest.mark.parametrize("prompt", [None, "", 5, ["ROMEO:"], True])
def test_asked_with_a_wrong_prompt(impl, prompt):
    calling(impl.asked, json.dumps({"prompt": prompt, "max_tokens": 3}).encode()).raises(ValueError, "prompt")


def test_asked_without_a_prompt(impl):
    calling(impl.asked, b'{"max_tokens": 3}').raises(ValueError, "prompt")


@pytest.mark.parametrize("count", [0, -1, 1001, 2.0, "3", True, None])
def test_asked_with_a_wrong_number(impl, count):
    calling(impl.asked, json.dumps({"prompt": "x", "max_tokens": count}).encode()).raises(ValueError, "max_tokens")


def queued(impl, batches):
    """What is in the queue of each request when all steps have run: requests and their pieces, batch behind batch."""
    import asyncio

    from kuiper.course.plain_loop import run

    class Engine:
        def __init__(self):
            self.active = {}

        @property
        def has_work(self):
            return len(self.active)

        def step(self):
            if not self.active:
                raise RuntimeError("a step without work")
            told = [(name, left.pop(0)) for name, left in self.active.items()]
            self.active = {name: left for name, left in self.active.items() if left}
            return told

    async def main():
        engine = Engine()
        application = impl.Application(engine)
        queues = application.queues = {name: asyncio.Queue() for batch in batches for name in batch}
        steps = asyncio.create_task(application.run_steps())
        for batch in batches:
            engine.active.update((name, [*pieces, None]) for name, pieces in batch.items())
            application.work.set()
            await asyncio.sleep(1)
        if steps.done():
            steps.result()
        return {name: [queue.get_nowait() for _ in range(queue.qsize())] for name, queue in queues.items()}

    return run(main())


def test_run_steps_of_one_request(impl):
    calling(queued, impl, [{"a": "xyz"}]).gives({"a": ["x", "y", "z", None]})


def test_run_steps_of_several_requests(impl):
    calling(queued, impl, [{"a": "xy", "b": "uvw", "c": ""}]).gives(
        {"a": ["x", "y", None], "b": ["u", "v", "w", None], "c": [None]}
    )


def test_run_steps_again_for_requests_that_come_later(impl):
    calling(queued, impl, [{"a": "xy"}, {"b": "uv", "c": "w"}, {"d": "t"}]).gives(
        {"a": ["x", "y", None], "b": ["u", "v", None], "c": ["w", None], "d": ["t", None]}
    )


def test_run_steps_waits_where_there_is_no_work(impl):
    calling(queued, impl, [{}]).gives({})
    calling(queued, impl, [{}, {"a": "x"}, {}]).gives({"a": ["x", None]})


def turns(impl, count):
    """How often another task has its turn while ``count`` steps run; more often than nearly ``count`` is not counted."""
    import asyncio

    from kuiper.course.plain_loop import run

    class Engine:
        left = count

        @property
        def has_work(self):
            return self.left

        def step(self):
            self.left -= 1
            return []

    async def main():
        engine = Engine()
        application = impl.Application(engine)
        application.work.set()
        steps = asyncio.create_task(application.run_steps())
        seen = 0
        while engine.has_work and not steps.done():
            await asyncio.sleep(0)
            seen += 1
        if steps.done():
            steps.result()
        return min(seen, count - 2)

    return run(main())


def test_run_steps_lets_the_others_have_their_turn(impl):
    calling(turns, impl, 20).gives(18)


def watched(impl, messages):
    """What ``watch`` does when these messages come: who is cancelled, and what is in the queues of r and s then."""
    import asyncio

    from kuiper.course.plain_loop import run

    class Engine:
        def __init__(self):
            self.cancelled = []

        def cancel(self, request):
            self.cancelled.append(request)

    waiting = list(messages)

    async def receive():
        return waiting.pop(0)

    async def main():
        application = impl.Application(Engine())
        application.queues = {"r": asyncio.Queue(), "s": asyncio.Queue()}
        await application.watch(receive, "r")
        found = {name: [queue.get_nowait() for _ in range(queue.qsize())] for name, queue in application.queues.items()}
        items = {name: ["GONE" if item is impl.GONE else item for item in found[name]] for name in found}
        return application.engine.cancelled, items, len(messages) - len(waiting)

    return run(main())


def test_watch_a_client_that_goes_away(impl):
    calling(watched, impl, [LEFT]).gives((["r"], {"r": ["GONE"], "s": []}, 1))


def test_watch_passes_over_other_messages(impl):
    calling(watched, impl, [part(b"", True), part(b""), LEFT, LEFT]).gives((["r"], {"r": ["GONE"], "s": []}, 3))


def talked(impl, clients, whole=False):
    """Let clients talk with the application: what each is sent, and what the engine is told.

    A client is (prompt, max_tokens, after how many messages it leaves, or None, whether ``send`` raises then). The engine
    writes the prompt in capitals. With ``whole`` the application is called, and a client is (method, path, messages).
    """
    import asyncio

    from kuiper.course.plain_loop import run

    class Engine:
        def __init__(self):
            self.active, self.submitted, self.cancelled, self.steps = {}, [], [], 0

        @property
        def has_work(self):
            return len(self.active)

        def submit(self, prompt, max_tokens):
            request = (len(self.submitted), prompt)
            self.submitted.append((prompt, max_tokens))
            self.active[request] = [*prompt.upper()[:max_tokens], None]
            return request

        def step(self):
            self.steps += 1
            told = [(request, left.pop(0)) for request, left in self.active.items()]
            self.active = {request: left for request, left in self.active.items() if left}
            return told

        def cancel(self, request):
            if self.active.pop(request, None):
                self.cancelled.append(request[1])

    async def talk(application, client):
        inbox, sent = asyncio.Queue(), []

        async def send(message):
            sent.append(dict(message))
            for _ in range(3 if client is clients[0] else 1):  # the first one is slow
                await asyncio.sleep(0)
            if not whole and len(sent) == client[2]:
                inbox.put_nowait({"type": "http.disconnect"})
                if client[3]:
                    raise OSError("the client has gone away")

        if whole:
            method, path, messages = client
            for message in messages:
                inbox.put_nowait(message)
            scope = {"type": "http", "method": method, "path": path, "headers": []}
            await application(scope, inbox.get, send)
        else:
            try:
                await application.stream(inbox.get, send, *client[:2])
            except OSError:
                pass
        return sent

    def in_short(client, messages):
        if not messages:
            return "nothing"
        types = [value.decode() for key, value in messages[0]["headers"] if key == b"content-type"]
        bodies = [(message["body"].decode(), message.get("more_body", False)) for message in messages[1:]]
        is_whole = [more for _, more in bodies] == [True] * (len(bodies) - 1) + [False]
        if not whole and client[2]:
            bodies = bodies[: client[2] - 1]  # the others came when it had gone
        return messages[0]["status"], *types, [text for text, _ in bodies], "whole" if is_whole else "not whole"

    async def main():
        engine = Engine()
        application = impl.Application(engine)
        steps = asyncio.create_task(application.run_steps())
        tasks = [asyncio.create_task(talk(application, client)) for client in clients]
        sent = [in_short(client, await task) for client, task in zip(clients, tasks, strict=True)]
        await asyncio.sleep(1)
        if steps.done():
            steps.result()
        told = {"submitted": engine.submitted, "cancelled": engine.cancelled}
        return sent, told, {"tasks left": len(asyncio.all_tasks()) - 2, "queues left": len(application.queues)}

    return run(main())


def told(submitted, cancelled=()):
    """What the engine was told, and that nothing is left."""
    return {"submitted": submitted, "cancelled": list(cancelled)}, {"tasks left": 0, "queues left": 0}


def events(text):
    """The events of the letters of a text."""
    return [f"data: {json.dumps({'text': letter})}\n\n" for letter in text]


def whole(text):
    """A whole answer."""
    return 200, EVENT_STREAM, [*events(text), "data: [DONE]\n\n"], "whole"


def first_message(impl):
    """What is sent before the first piece is there."""
    import asyncio

    from kuiper.course.plain_loop import run

    class Engine:
        has_work = False

        def submit(self, prompt, max_tokens):
            return prompt

        def cancel(self, request):
            pass

    async def main():
        application = impl.Application(Engine())
        sent = []

        async def send(message):
            sent.append((message["type"], message.get("status")))

        task = asyncio.create_task(application.stream(asyncio.Queue().get, send, "x", 3))
        await asyncio.sleep(1)
        if task.done():
            task.result()
        return sent, application.work.is_set(), list(application.queues)

    return run(main())


def test_stream_begins_before_the_first_piece(impl):
    calling(first_message, impl).gives(([("http.response.start", 200)], True, ["x"]))


def test_stream_token_by_token(impl):
    calling(talked, impl, [("romeo", 3, None, False)]).gives(([whole("ROM")], *told([("romeo", 3)])))


def test_stream_to_several_readers(impl):
    clients = [("romeo", 9, None, False), ("ab", 2, None, False), ("juliet", 4, None, False)]
    submitted = [("romeo", 9), ("ab", 2), ("juliet", 4)]
    calling(talked, impl, clients).gives(([whole("ROMEO"), whole("AB"), whole("JULI")], *told(submitted)))


def test_stream_pieces_in_json(impl):
    calling(talked, impl, [('"\n', 2, None, False)]).gives(([whole('"\n')], *told([('"\n', 2)])))


def test_stream_to_a_client_that_goes_away(impl):
    calling(talked, impl, [("abcdefghijklmnopqrstuvwxyz", 99, 4, False)]).gives(
        (
            [(200, EVENT_STREAM, events("ABC"), "not whole")],
            *told([("abcdefghijklmnopqrstuvwxyz", 99)], ["abcdefghijklmnopqrstuvwxyz"]),
        )
    )


def test_stream_to_others_when_one_goes_away(impl):
    clients = [("abcdefghijklmnopqrst", 20, 3, False), ("abcdefghijklmno", 15, None, False)]
    calling(talked, impl, clients).gives(
        (
            [(200, EVENT_STREAM, events("AB"), "not whole"), whole("ABCDEFGHIJKLMNO")],
            *told([("abcdefghijklmnopqrst", 20), ("abcdefghijklmno", 15)], ["abcdefghijklmnopqrst"]),
        )
    )


@pytest.mark.parametrize("messages", [1, 3])
def test_stream_where_sending_fails(impl, messages):
    calling(talked, impl, [("abcdefghijklmnopqrst", 20, messages, True)]).gives(
        (
            [(200, EVENT_STREAM, events("ABCDEF"[: messages - 1]), "not whole")],
            *told([("abcdefghijklmnopqrst", 20)], ["abcdefghijklmnopqrst"]),
        )
    )


GOOD = b'{"prompt": "romeo", "max_tokens": 3}'


def test_call_streams_what_is_asked_for(impl):
    calling(talked, impl, [("POST", PATH, [part(GOOD[:9], True), part(GOOD[9:])])], True).gives(
        ([whole("ROM")], *told([("romeo", 3)]))
    )


def statuses(impl, requests):
    """The status of each of these requests (method, path, body), what its body is said to be, and what was submitted."""
    import asyncio
    import json

    from kuiper.course.plain_loop import run

    class Engine:
        def __init__(self):
            self.submitted = []

        def submit(self, prompt, max_tokens):
            self.submitted.append((prompt, max_tokens))
            raise RuntimeError("this was to be refused")

    async def main():
        application, found = impl.Application(Engine()), []
        for method, path, body in requests:
            sent, inbox = [], asyncio.Queue()
            inbox.put_nowait({"type": "http.request", "body": body, "more_body": False})

            async def send(message, sent=sent):
                sent.append(message)

            await application({"type": "http", "method": method, "path": path, "headers": []}, inbox.get, send)
            words = json.loads(b"".join(message.get("body", b"") for message in sent))["error"]
            found.append((sent[0]["status"], len(sent), [name for name in ("prompt", "max_tokens") if name in words]))
        return found, application.engine.submitted

    return run(main())


def test_call_of_another_path(impl):
    calling(statuses, impl, [("POST", "/", GOOD), ("GET", "/generate/", b"")]).gives(([(404, 2, [])] * 2, []))


def test_call_by_another_method(impl):
    calling(statuses, impl, [("GET", PATH, b""), ("PUT", PATH, GOOD)]).gives(([(405, 2, [])] * 2, []))


def test_call_with_a_wrong_body(impl):
    calling(statuses, impl, [("POST", PATH, b""), ("POST", PATH, b"[]")]).gives(([(400, 2, [])] * 2, []))


def test_call_with_a_wrong_value(impl):
    wrong = [("POST", PATH, b'{"max_tokens": 3}'), ("POST", PATH, b'{"prompt": "x", "max_tokens": 0}')]
    calling(statuses, impl, wrong).gives(([(400, 2, ["prompt"]), (400, 2, ["max_tokens"])], []))


def test_call_with_a_body_that_is_too_large(impl):
    body = json.dumps({"prompt": "x" * 70000}).encode()
    calling(statuses, impl, [("POST", PATH, body)]).gives(([(413, 2, [])], []))


def test_call_of_a_client_that_goes_away(impl):
    calling(talked, impl, [("POST", PATH, [part(GOOD[:9], True), LEFT])], True).gives((["nothing"], *told([])))


def lived(impl):
    """What the application sends when a server starts it and ends it, and what becomes of the steps."""
    import asyncio

    from kuiper.course.plain_loop import run

    class Engine:
        has_work = False

    async def main():
        inbox, sent = asyncio.Queue(), []

        async def send(message):
            sent.append(message["type"])

        inbox.put_nowait({"type": "lifespan.startup"})
        task = asyncio.create_task(impl.Application(Engine())({"type": "lifespan"}, inbox.get, send))
        await asyncio.sleep(1)
        if task.done():
            task.result()
        running = len(asyncio.all_tasks())
        inbox.put_nowait({"type": "lifespan.shutdown"})
        await task
        await asyncio.sleep(1)
        return sent, running, len(asyncio.all_tasks())

    return run(main())


def test_call_by_a_server_that_starts_and_ends(impl):
    calling(lived, impl).gives((["lifespan.startup.complete", "lifespan.shutdown.complete"], 3, 1))
