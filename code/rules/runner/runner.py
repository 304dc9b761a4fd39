"""The trusted program of the box: it imports libraries once, and forks a process for each job.

Before it imports any of them it gives up what the box could do harm with. It reads jobs on descriptor 3 and answers on descriptor 4; a frame is the length of a head (u32, little endian), the head
in JSON, and the bytes that the head counts. Only the forked process runs foreign code, after it has given up what it
could do harm with. The runner itself passes on what a job wrote as bytes: it never evaluates, unpickles or imports it.
"""
import ctypes
import errno
import gc
import hashlib
import json
import os
import random
import resource
import select
import signal
import struct
import sys

CONTROL_IN, CONTROL_OUT = 3, 4
RESULT, ARMED = 3, 4
# Where a counted run says its steps. No job may make a descriptor so high, so none can be put in its place.
COUNT = 16
DESCRIPTORS = 256
INHERITED_MAX = 4096
CHUNK = 1 << 16
DIAGNOSTICS_KEPT = 1 << 16
DIAGNOSTICS_MAX = 1 << 20
TEXT_MAX = 1000
CELL_BYTES_MAX = 4096
SUBMISSION = "submission.py"
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
LIBC = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


class Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scope", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class Refused(Exception):
    """A result that cannot be taken: its reason stands where the class of an exception would."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


# --- frames


def send(head, *bodies):
    head = json.dumps(head).encode()
    for part in (struct.pack("<I", len(head)), head, *bodies):
        view = memoryview(part)
        while view:
            view = view[os.write(CONTROL_OUT, view):]


def receive(length):
    parts = []
    while length:
        part = os.read(CONTROL_IN, min(length, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


# --- what the whole box gives up

# Calls of Landlock, which have one number on every machine, and its rights on files: EXECUTE, WRITE_FILE, READ_FILE, READ_DIR.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
# How many rights on files each version knows; from the fourth on it knows the network, from the sixth on other processes.
FILE_RIGHTS = (13, 14, 15, 15, 16, 16)
NETWORK_SINCE, SCOPE_SINCE = 4, 6
# Where it is the only layer it must keep a program from the network.
OLDEST_ALONE = 4


def landlock_call(number, *arguments):
    answer = LIBC.syscall(ctypes.c_long(number), *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "Landlock refuses the rules of the box")
    return answer


def restrict_files(readable, is_only_layer):
    """Reading beneath a few folders, and nothing else of the file system, the network, or processes outside."""
    zero = ctypes.c_uint32(0)
    version = LIBC.syscall(ctypes.c_long(CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < (OLDEST_ALONE if is_only_layer else 1):
        if is_only_layer:
            raise OSError(errno.ENOSYS, "Landlock is not enforced, and the box has no other layer")
        return
    version = min(version, len(FILE_RIGHTS))
    rules = Ruleset((1 << FILE_RIGHTS[version - 1]) - 1, 3 if NETWORK_SINCE <= version else 0, 3 if SCOPE_SINCE <= version else 0)
    size = 24 if SCOPE_SINCE <= version else 16 if NETWORK_SINCE <= version else 8
    ruleset = landlock_call(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), zero)
    for path in [*readable, "/dev/null"]:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            # What a machine lacks needs no rule.
            continue
        allowed = EXECUTE | READ_FILE
        if os.path.isdir(path):
            allowed |= READ_DIR
        if path == "/dev/null":
            allowed = READ_FILE | WRITE_FILE
        rule = PathBeneath(allowed, opened)
        landlock_call(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), zero)
        os.close(opened)
    landlock_call(RESTRICT_SELF, ctypes.c_int(ruleset), zero)
    os.close(ruleset)


def apply_filter(instructions):
    text = ctypes.create_string_buffer(instructions, len(instructions))
    program = Program(len(instructions) // 8, ctypes.cast(text, ctypes.c_void_p))
    if LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


def restrict(policy):
    """Ends with its parent, gives up privileges, and takes limits, rules and the filter of the whole box."""
    for option, value in ((PR_SET_PDEATHSIG, signal.SIGKILL), (PR_SET_NO_NEW_PRIVS, 1)):
        if LIBC.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "privileges cannot be given up")
    for name, most in policy["limits"]:
        if name == "RLIMIT_NPROC" and os.getuid() == 0:
            continue
        limit = getattr(resource, name)
        # A limit that is lower already stays: it cannot be raised, and is no less strict.
        allowed = resource.getrlimit(limit)[1]
        if allowed != resource.RLIM_INFINITY:
            most = min(most, allowed)
        resource.setrlimit(limit, (most, most))
    if policy["readable"] is not None:
        restrict_files(policy["readable"], policy["is_only_layer"])
    if policy["filter"]:
        apply_filter(bytes.fromhex(policy["filter"]))


# --- a run whose calls and turns of loops are counted
#
# What is counted leaves the process at once, a byte each, on a descriptor that can be closed and not replaced: a program can add to
# it, and never take away. Code of the program gets a call in every turn of its loops, which nothing that it names can reach.

STEP, WINDOW, TAMPERED, DYNAMIC, ENDED = b"s", b"w", b"t", b"d", b"e"
# What reaches for the counter, or for code that was counted otherwise.
TAMPERING = (
    "ctypes.", "code.__new__", "gc.get_", "sys._current_", "sys.addaudithook", "sys.monitoring.", "sys.setprofile", "sys.settrace",
)
# Libraries that make code from texts of their own, when they are imported and later.
MAKERS = ("importlib._bootstrap>", "importlib._bootstrap_external>", "/scipy/stats/_distn_infrastructure.py")
# Calls of a function by a window that cost more than these are a loop within the window.
WINDOW_STEPS_MAX = 500
NODES_A_STEP = 12
KEEPERS = ("STORE_DEREF", "STORE_GLOBAL", "STORE_SUBSCR", "STORE_ATTR", "DELETE_SUBSCR", "DELETE_ATTR")


def with_turns(source):
    """The source as code in which every turn of a loop makes calls: one, and more for a long turn, which may take several rows."""
    import ast

    def turn():
        called = ast.Attribute(ast.Tuple([], ast.Load()), "count", ast.Load())
        return ast.Call(called, [ast.Constant(0)], [])

    def turns(parts):
        return range(1 + sum(1 for part in parts for _ in ast.walk(part)) // NODES_A_STEP)

    tree = ast.parse(source, SUBMISSION)
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            node.body[:0] = [ast.Expr(turn()) for _ in turns(node.body)]
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            node.generators[-1].ifs[:0] = [ast.UnaryOp(ast.Not(), turn()) for _ in turns(made)]
    return compile(ast.fix_missing_locations(tree), SUBMISSION, "exec", dont_inherit=True)


def keeps_something(code):
    """Whether a function may leave something for its next call."""
    import dis
    import types

    if code.co_flags & 0x20 or any(step.opname in KEEPERS for step in dis.get_instructions(code)):
        return True
    return any(keeps_something(part) for part in code.co_consts if isinstance(part, types.CodeType))


def counter():
    """What is told of every call. A window's function that sees one row alone, or keeps something, is no window's."""
    import pandas.core.window.rolling as rolling

    window, library = rolling.RollingAndExpandingMixin.apply.__code__, rolling.__file__.rsplit("/", 1)[0]
    kept, inside, spent = {}, [], [0]
    mutable = (list, dict, set, bytearray, type(iter([])), type(i for i in ()))

    def note(frame, event, arg, write=os.write, at=COUNT):
        if event == "return":
            if frame.f_code is window and inside:
                inside.pop()
            return
        if event == "call":
            code = frame.f_code
            if code is window:
                rows = getattr(frame.f_locals.get("self"), "window", None)
                inside.append(rows is None or isinstance(rows, int) and 1 < rows)
                spent[0] = 0
            elif inside and code.co_filename == SUBMISSION:
                if code not in kept:
                    kept[code] = keeps_something(code)
                if kept[code]:
                    inside[-1] = False
                if frame.f_back.f_code.co_filename.startswith(library):
                    spent[0] = 0
        elif event != "c_call":
            return
        elif inside and frame.f_code.co_filename == SUBMISSION and isinstance(getattr(arg, "__self__", None), mutable):
            inside[-1] = False
        spent[0] += 1
        write(at, WINDOW if inside and all(inside) and spent[0] < WINDOW_STEPS_MAX else STEP)

    return note


def watch(event, arguments, write=os.write, at=COUNT, where=sys._getframe):
    """What is told of every event that Python audits, and no program can take away. What libraries do of themselves is theirs."""
    if event in ("exec", "function.__new__"):
        said = DYNAMIC
    elif event.startswith(TAMPERING) or event == "object.__setattr__" and arguments[1] == "__code__":
        said = TAMPERED
    else:
        return
    frame = where(1)
    while frame is not None and not frame.f_code.co_filename.endswith(MAKERS):
        if frame.f_code.co_filename == SUBMISSION:
            write(at, said)
            return
        frame = frame.f_back


def counted(code, space, head, data):
    """Defines the function, calls it, and says each step of both."""
    read, start = sys.getprofile, sys.setprofile
    note = counter()
    for name in ("getprofile", "setprofile", "gettrace", "settrace"):
        delattr(sys, name)
    gc.disable()
    start(note)
    sys.addaudithook(watch)
    exec(code, space)
    if head["entry"] not in space:
        raise Refused("no_function", "the source defines no " + head["entry"])
    value = call(space[head["entry"]], data, head["config"])
    if read() is not note:
        os.write(COUNT, TAMPERED)
    os.write(COUNT, ENDED)
    return value


# --- one job, in its own process


def prepare(head, job_filter, result, diagnostics, armed, count):
    """Gives up everything that the foreign code must not have; the last step is the filter."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.setpgid(0, 0)
    null = os.open("/dev/null", os.O_RDWR)
    # Every descriptor goes above those that will stay, so that no copy overwrites another.
    kept = (null, diagnostics, result, armed) if count is None else (null, diagnostics, result, armed, count)
    null, diagnostics, result, armed, *count = [os.dup2(at, DESCRIPTORS - 8 + place) for place, at in enumerate(kept)]
    places = [(null, 0), (diagnostics, 1), (diagnostics, 2), (result, RESULT), (armed, ARMED)]
    for at, place in places + [(at, COUNT) for at in count]:
        os.dup2(at, place)
    os.closerange(ARMED + 1, COUNT)
    os.closerange(COUNT + len(count), DESCRIPTORS)
    if count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (COUNT, COUNT))
    resource.setrlimit(resource.RLIMIT_CPU, (head["cpu_s"], head["cpu_s"]))
    # A program sees the frames that called it: what it must not know of its job leaves them.
    seed = hashlib.sha256(b"%d" % head.pop("seed")).digest()
    head.pop("id")
    # Not the seed itself, which stands in the states of generators.
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(struct.unpack("<8I", seed))
    if job_filter:
        apply_filter(job_filter)
    os.write(ARMED, b"1")
    os.close(ARMED)


def column(kind, rows, body, at):
    """The values of a column, and where the next begins."""
    numpy = sys.modules["numpy"]
    if kind != "text":
        types = {"f64": "<f8", "i64": "<i8", "time": "<M8[ns]"}
        return numpy.frombuffer(body, types[kind], rows, at).copy(), at + 8 * rows
    lengths = struct.unpack_from("<%dI" % rows, body, at)
    at += 4 * rows
    texts = []
    for length in lengths:
        texts.append(body[at:at + length].decode())
        at += length
    return texts, at


def frame(columns, body, at, index_by_time):
    pandas = sys.modules["pandas"]
    values, index = {}, None
    for head in columns:
        data, at = column(head["type"], head["n"], body, at)
        if head["type"] == "time" and index_by_time and index is None:
            index = pandas.DatetimeIndex(data, name=head["name"])
        else:
            values[head["name"]] = data
    return pandas.DataFrame(values, index=index), at


def data_of(head, body):
    """What the entry is called with: a data frame, one a symbol, or nothing."""
    at = head["source_n"]
    if head["columns"]:
        return frame(head["columns"], body, at, head["kind"] == "series")[0]
    frames = {}
    for symbol, columns in head["frames"]:
        frames[symbol], at = frame(columns, body, at, False)
    return frames or None


def call(entry, data, config):
    """Calls a function with the data, or makes an object of a class and calls its method with them."""
    config = config or {}
    arguments = config.get("arguments", [])
    if isinstance(entry, type):
        made = entry(*config.get("init", []))
        return getattr(made, config.get("method", "run"))(data, *arguments)
    return entry(data, *arguments)


def series(value, index, rows):
    numpy, pandas = sys.modules["numpy"], sys.modules["pandas"]
    if not isinstance(value, pandas.Series):
        raise Refused("not_series", "a series was asked for, not a " + type(value).__name__)
    if len(value) != rows or not value.index.equals(index):
        raise Refused("index", "the series has another index than the data")
    flags = []
    if value.dtype == bool:
        flags.append("bool")
    try:
        if value.dtype == object and any(isinstance(cell, (str, bytes)) for cell in value):
            raise TypeError
        numbers = numpy.ascontiguousarray(value.astype(float).to_numpy(), dtype="<f8")
    except Exception:
        raise Refused("dtype", "values of type %s are no numbers" % value.dtype) from None
    if numpy.isinf(numbers).any():
        flags.append("inf")
    name = value.name if isinstance(value.name, str) else None
    head = {"kind": "series", "rows": rows, "name": name and name[:200], "flags": flags}
    return head, numbers.tobytes()


def cell(value):
    """A value as a cell: numbers, flags and texts as they are, what is not finite as nothing, times as texts."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if hasattr(value, "isoformat"):
        return None if value != value else value.isoformat()
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is sys.modules["pandas"].NA:
        return None
    return str(value)


def tables(value, names):
    pandas = sys.modules["pandas"]
    values = value if isinstance(value, (tuple, list)) else [value]
    if len(values) != len(names):
        raise Refused("tables", "%d tables were asked for, not %d" % (len(names), len(values)))
    heads, lines = [], []
    for name, table in zip(names, values):
        if not isinstance(table, pandas.DataFrame):
            raise Refused("not_frame", "%s is a %s and no data frame" % (name, type(table).__name__))
        heads.append({"name": name, "columns": [str(column) for column in table.columns], "rows": len(table)})
        for row in table.itertuples(index=False, name=None):
            lines.append(json.dumps([cell(value) for value in row], ensure_ascii=False, allow_nan=False))
    body = "".join(line + "\n" for line in lines)
    return {"kind": "tables", "tables": heads}, body.encode("utf-8", "replace")


# --- the syntax tree, without running anything


def clean(text):
    """A text without what is no character, which strict JSON cannot hold."""
    return text.encode("utf-8", "replace").decode()


def text_of(node):
    """What a node is named, and what stands beside the name."""
    import ast

    if isinstance(node, ast.Constant):
        value = node.value
        return (value if isinstance(value, str) else repr(value)), type(value).__name__
    if isinstance(node, ast.alias):
        return node.name, node.asname
    for field in ("id", "attr", "name", "arg", "module"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            return value, None
    return None, None


def facts(source):
    import ast

    rows, waiting = [], [(None, None, None, ast.parse(source))]
    while waiting:
        parent, field, place, node = waiting.pop()
        text, detail = text_of(node)
        lines = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        row = [parent, field, place, type(node).__name__, *lines, text, detail]
        rows.append([clean(value)[:TEXT_MAX] if isinstance(value, str) else value for value in row])
        below = []
        for field, value in ast.iter_fields(node):
            for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                    below.append((len(rows) - 1, field, place, child))
        waiting.extend(reversed(below))
    body = "".join(json.dumps(row) + "\n" for row in rows)
    return {"kind": "facts", "rows": len(rows)}, body.encode()


# --- how a job ends


def line_of(error):
    """The last line of the source that the error went through."""
    if isinstance(error, SyntaxError):
        return error.lineno
    line, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == SUBMISSION:
            line = at.tb_lineno
        at = at.tb_next
    return line


def failure(error, where):
    if isinstance(error, Refused):
        name = error.reason
    elif isinstance(error, MemoryError):
        name = "MemoryError"
    else:
        name = type(error).__name__
    try:
        message = str(error)
    except BaseException:
        message = ""
    message = clean(message)[:2000]
    head = {"kind": "error", "class": name[:200], "message": message, "where": where, "line": line_of(error)}
    return head, b""


def write_result(head, body):
    head = json.dumps(head).encode()
    for part in (b"KTR1" + struct.pack("<I", len(head)) + head, body):
        view = memoryview(part)
        while view:
            view = view[os.write(RESULT, view):]


def outcome(head, body, names):
    """Runs the job; what it gave back, or how it failed, as the parts of a result."""
    where = "syntax"
    try:
        source = body[:head["source_n"]].decode()
        if head["kind"] == "facts":
            return facts(source)
        is_counted = head.get("counted", False)
        code = with_turns(source) if is_counted else compile(source, SUBMISSION, "exec", dont_inherit=True)
        where = "import"
        space = dict(names, __name__="__main__" if head["entry"] is None else "submission")
        data = data_of(head, body)
        index, rows = getattr(data, "index", None), len(data) if head["kind"] == "series" else 0
        if index is not None:
            index = index.copy(deep=True)
        if is_counted:
            where = "call"
            return series(counted(code, space, head, data), index, rows)
        exec(code, space)
        if head["entry"] is None:
            return {"kind": "tables", "tables": []}, b""
        if head["entry"] not in space:
            raise Refused("no_function", "the source defines no " + head["entry"])
        where = "call"
        value = call(space[head["entry"]], data, head["config"])
        where = "result"
        if head["kind"] == "series":
            return series(value, index, rows)
        return tables(value, (head["config"] or {}).get("tables", []))
    except SystemExit as error:
        if head["entry"] is None and not error.code:
            return {"kind": "tables", "tables": []}, b""
        return failure(error, where)
    except RecursionError as error:
        return failure(error.with_traceback(None), where)
    except BaseException as error:
        return failure(error, where)


def run_job(head, body, names):
    spare = bytearray(1 << 20)
    parts = outcome(head, body, names)
    # What is left may be no memory at all.
    del spare
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    write_result(*parts)
    os._exit(0)


# --- the runner


def end_all(pid, alone):
    """Ends whatever a job left, so that nobody is there when the next begins."""
    targets = [-pid] + ([-1] if alone else [])
    for target in targets:
        try:
            os.kill(target, signal.SIGKILL)
        except OSError:
            pass
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0 and not alone:
                return
        except ChildProcessError:
            return


def tally(steps, part):
    """Adds what a counted run said: steps, those in windows, whether it tampered, made code, and came to its end."""
    for place, said in enumerate((STEP, WINDOW, TAMPERED, DYNAMIC, ENDED)):
        steps[place] += part.count(said)


def relay(pid, result, diagnostics, most, count=None, steps=None):
    """What a job writes, until it ends: its result up to one byte too many, the beginning of its diagnostics."""
    kept, printed, all_printed, flood = [], b"", 0, False
    length = 0
    poll = select.poll()
    for at in (result, diagnostics):
        poll.register(at, select.POLLIN)
    # The host is gone once nobody can write to the runner.
    poll.register(CONTROL_IN, 0)
    waiting = 2
    if count is not None:
        poll.register(count, select.POLLIN)
        waiting = 3
    while waiting:
        for at, _ in poll.poll():
            if at == CONTROL_IN:
                os.kill(pid, signal.SIGKILL)
                os._exit(0)
            part = os.read(at, CHUNK)
            if not part:
                poll.unregister(at)
                waiting -= 1
            elif at == count:
                tally(steps, part)
            elif at == result:
                part = part[:most + 1 - length]
                kept.append(part)
                length += len(part)
                if most < length:
                    return b"".join(kept), printed, all_printed, flood
            else:
                all_printed += len(part)
                printed += part[:DIAGNOSTICS_KEPT - len(printed)]
                if DIAGNOSTICS_MAX < all_printed:
                    return b"".join(kept), printed, all_printed, True
    return b"".join(kept), printed, all_printed, flood


def serve(names, job_filter, alone):
    head = json.loads(receive(struct.unpack("<I", receive(4))[0]))
    body = receive(head["body_n"])
    result, result_end = os.pipe()
    diagnostics, diagnostics_end = os.pipe()
    armed, armed_end = os.pipe()
    count, count_end = os.pipe() if head.get("counted", False) else (None, None)
    steps = [0] * 5
    pid = os.fork()
    if pid == 0:
        try:
            prepare(head, job_filter, result_end, diagnostics_end, armed_end, count_end)
        except BaseException:
            os._exit(1)
        run_job(head, body, names)
    for at in (result_end, diagnostics_end, armed_end, count_end):
        if at is not None:
            os.close(at)
    del body
    is_armed = os.read(armed, 1) == b"1"
    os.close(armed)
    written, printed, all_printed, flood = relay(pid, result, diagnostics, head["out_max"], count, steps)
    if flood or head["out_max"] < len(written):
        os.kill(pid, signal.SIGKILL)
    for at in (result, diagnostics, count):
        if at is not None:
            os.close(at)
    _, status, usage = os.wait4(pid, 0)
    end_all(pid, alone)
    report = {
        "kind": "done",
        "id": head["id"],
        "exit": os.waitstatus_to_exitcode(status),
        "armed": is_armed,
        "flood": flood,
        "cpu_ms": int((usage.ru_utime + usage.ru_stime) * 1000),
        "memory_kb": usage.ru_maxrss,
        "result_n": len(written),
        "diagnostics_n": len(printed),
        "diagnostics_all": all_printed,
    }
    if count is not None:
        report["steps"] = steps
    send(report, written, printed)


def refusal():
    """What a call is answered with that the filter of the box forbids; 0 where it is allowed."""
    try:
        os.close(os.memfd_create("refused"))
        return 0
    except OSError as error:
        return error.errno or errno.EINVAL


def main(modules, job_filter, alone, policy):
    # What somebody left open when the program was started, far above what a job closes.
    os.closerange(CONTROL_OUT + 1, INHERITED_MAX)
    try:
        restrict(json.loads(policy))
    except BaseException as error:
        send({"kind": "failed", "message": ("the box cannot restrict itself: %s" % error)[:2000]})
        os._exit(1)
    # What others wrote begins here: until now Python ran without the environment's packages.
    import site

    site.main()
    names = {}
    for module in modules.split(",") if modules else []:
        path, _, name = module.partition("=")
        try:
            __import__(path)
        except BaseException as error:
            send({"kind": "failed", "message": ("cannot import %s: %s" % (path, error))[:2000]})
            os._exit(1)
        if name:
            names[name] = sys.modules[path]
    LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    alone = alone == "alone" and os.getppid() == 1
    version = sys.version.replace("\n", " ")
    send({"kind": "ready", "python": version, "refusal": refusal(), "alone": alone})
    gc.collect()
    gc.freeze()
    while True:
        serve(names, bytes.fromhex(job_filter), alone)


if __name__ == "__main__":
    arguments = sys.argv[1:5]
    del sys.argv[1:], sys.orig_argv[1:]
    main(*arguments)
