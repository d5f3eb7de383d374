"""The protocol: its TypeScript, and what is refused before anything looks at it."""

import dataclasses
import json
import random
import re
import string

import pytest

from impulsar.studio import messages as ms
from impulsar.studio import typescript
from impulsar.studio.wire import MOST_SIGNALS, WireError, read, to_text


@pytest.mark.parametrize("name", ["messages.ts", "edits.ts"])
def test_typescript_is_up_to_date(name: str) -> None:
    """The files of client/src are what `python -m impulsar.studio.typescript` writes."""
    assert (typescript.FOLDER / name).read_text() == typescript.files()[name]


def test_every_message_of_a_client_reads_back() -> None:
    for message in (
        ms.EditMessage(id=1, edit={"edit": "Release", "hand": "a"}),
        ms.Control(id=2, action="speed", value=0.5),
        ms.Control(id=2**32 - 1, action="scene", name="four-bar", parameters={}),
        ms.Subscribe(id=3, signals=["energy.total"]),
    ):
        assert read(to_text(message)) == message


def test_what_json_cannot_say_becomes_null() -> None:
    text = to_text(ms.Parameter(name="max_torque", value=[float("inf"), float("nan"), 1.0]))
    assert json.loads(text)["value"] == [None, None, 1.0]


REFUSED = [
    ("", "JSON"),
    ("nonsense", "JSON"),
    ("[]", "expected an object"),
    ("{}", "type is None"),
    ('{"type": "scene", "id": 1}', "type is 'scene'"),
    ('{"type": "edit", "id": 1}', "edit is missing"),
    ('{"type": "edit", "id": 1, "edit": []}', "edit is []"),
    ('{"type": "edit", "id": 1, "edit": {}, "more": 1}', "no field 'more'"),
    ('{"type": "edit", "edit": {}}', "id is missing"),
    ('{"type": "control", "id": 0, "action": "run"}', "id is 0"),
    ('{"type": "control", "id": -1, "action": "run"}', "id is -1"),
    ('{"type": "control", "id": 4294967296, "action": "run"}', "id is 4294967296"),
    ('{"type": "control", "id": true, "action": "run"}', "id is True"),
    ('{"type": "control", "id": 1.5, "action": "run"}', "id is 1.5"),
    ('{"type": "control", "id": 1, "action": "__init__"}', "action is '__init__'"),
    ('{"type": "control", "id": 1, "action": "speed", "value": "fast"}', "value is 'fast'"),
    ('{"type": "control", "id": 1, "action": "speed", "value": NaN}', "NaN"),
    ('{"type": "control", "id": 1, "action": "speed", "value": 1e999}', "value is inf"),
    ('{"type": "control", "id": 1, "action": "speed", "value": true}', "value is True"),
    ('{"type": "subscribe", "id": 1, "signals": "energy.total"}', "signals is"),
    ('{"type": "subscribe", "id": 1, "signals": [1]}', "signals is"),
    (json.dumps({"type": "subscribe", "id": 1, "signals": ["x"] * (MOST_SIGNALS + 1)}), "at most 64"),
    (json.dumps({"type": "subscribe", "id": 1, "signals": ["x" * 300]}), "300 letters"),
    ('{"type": "edit", "id": 1, "id": 2, "edit": {}}', "twice"),
    ('{"type": "edit", "id": 1, "edit": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}", "nested"),
    ('{"type": "edit", "id": 1, "edit": {"a": ' + "9" * 10_000 + "}}", "digits"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=[f"{k}" for k in range(len(REFUSED))])
def test_a_message_that_is_not_one_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(WireError, match=re.escape(says)):
        read(text)


def test_a_refusal_knows_the_id() -> None:
    with pytest.raises(WireError) as caught:
        read('{"type": "control", "id": 7, "action": "fly"}')
    assert caught.value.id == 7


def test_fuzzed_messages_are_messages_or_refused() -> None:
    """1,000 mutations of good messages: a message comes out, or a WireError; nothing else."""
    rng = random.Random(6)
    good = [
        to_text(ms.EditMessage(id=5, edit={"edit": "Grab", "hand": "h", "body": "link1", "at": [0, 0, 0]})),
        to_text(ms.Control(id=6, action="seek", value=1.0)),
        to_text(ms.Subscribe(id=7, signals=["energy.total", "body.link1.velocity.x"])),
    ]
    counts = {"read": 0, "refused": 0}
    for _ in range(1000):
        try:
            found = read(mutate(rng, rng.choice(good)))
            assert dataclasses.is_dataclass(found)
            counts["read"] += 1
        except WireError:
            counts["refused"] += 1
    assert counts["refused"] > 500
    assert counts["read"] > 10


def mutate(rng: random.Random, text: str) -> str:
    """Change a few letters, or the value of a field."""
    if rng.random() < 0.5:
        data = json.loads(text)
        data[rng.choice(list(data))] = rng.choice([None, True, -1, 1e308, "", "x" * 500, [], {}, [[[]]], 2**70])
        return json.dumps(data)
    letters = list(text)
    for _ in range(rng.randint(1, 4)):
        k = rng.randrange(len(letters))
        letters[k] = rng.choice(string.printable + "\x00\ud800é漢")
    return "".join(letters)
