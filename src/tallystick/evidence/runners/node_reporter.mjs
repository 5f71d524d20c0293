// The reporter for vitest (3 upwards) and jest (28 upwards) that is carried into a check: it says over an inherited pipe
// what became of each test. What the rows mean stands in `report.py`. Node.js alone, nothing of Tallystick.
//
// It runs in the runner's own process. Tests run in workers, or in a context of their own: what they print never comes
// here, and Node.js hands the pipe to no program that it starts.

import { fstatSync, readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const MOST = 2000;
const ROOT = process.cwd();
const BETWEEN = " > ";
const JEST_OUTCOMES = { passed: "passed", failed: "failed" };
const VITEST_OUTCOMES = { passed: "passed", failed: "failed", skipped: "skipped" };

const number = process.env.TALLYSTICK_REPORT;
delete process.env.TALLYSTICK_REPORT;
let pipe = number === undefined ? -1 : Number(number);
const first = pipe < 0 ? null : fstatSync(pipe);
if (first !== null && !first.isFIFO()) pipe = -1; // what started us did not hand it on, and the number is another's

/** One row. Nothing more once another file has our number. */
function say(row, facts) {
  if (pipe < 0) return;
  const clean = Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, plain(value)]));
  let data = Buffer.from(JSON.stringify({ ...clean, row }) + "\n");
  try {
    const now = fstatSync(pipe);
    if (now.dev !== first.dev || now.ino !== first.ino) throw new Error("not our pipe");
    while (data.length) data = data.subarray(writeSync(pipe, data));
  } catch {
    pipe = -1;
  }
}

/** A text without colours and lone surrogates, cut to what one row may say. */
function plain(value) {
  if (typeof value !== "string") return value;
  return value.replace(/\u001b\[[0-9;]*m/g, "").slice(0, MOST).replace(/\p{Surrogate}/gu, "\ufffd");
}

/** `path` from the project's top, with `/`; "" for what lies outside. */
function inside(path) {
  const found = relative(ROOT, path);
  return found === "" || found.startsWith("..") || found.startsWith(sep) ? "" : found.split(sep).join("/");
}

/** The words of an error, and the first line of its stack that lies in the project. */
function failure(error) {
  const stack = String(error?.stack ?? "");
  const facts = { type: String(error?.name ?? ""), says: String(error?.message ?? "") || stack || String(error) };
  for (const [, url, path, line] of stack.matchAll(/(file:\/\/)?(\/[^\s():]+):(\d+):\d+/g)) {
    const file = inside(url ? fileURLToPath(url + path) : path);
    if (file && !file.includes("node_modules")) return { ...facts, file, line: Number(line) };
  }
  return facts;
}

function begin(runner, version) {
  say("begin", { runner, version, executable: process.execPath });
}

function skipped(options) {
  return options.fails ? "it is expected to fail" : "Skipped";
}

function vitestId(one) {
  return [inside(one.module.moduleId), one.fullName].join(BETWEEN);
}

function jestId(test, result) {
  return [inside(test.path), ...result.ancestorTitles, result.title].join(BETWEEN);
}

/** jest gives a failure as text: the error's first lines, then its stack. */
function jestFailure(text = "") {
  const clean = plain(text);
  const says = clean.split(/\n\s+at /)[0].trim();
  return { ...failure({ stack: text }), type: /^(\w*Error)\b/.exec(says)?.[1] ?? "", says };
}

export default class TallystickReporter {
  #said = new Set();
  #tests = 0;

  /** Both runners call this: jest with the file and the result, vitest with the test. */
  onTestCaseResult(test, result) {
    if (result === undefined) this.#vitest(test);
    else this.#jest(test, result);
  }

  // vitest

  onInit(vitest) {
    begin("vitest", vitest.version ?? "");
  }

  onTestCaseReady(test) {
    say("start", { id: vitestId(test) });
  }

  #vitest(test) {
    const { state, errors } = test.result();
    if (!(state in VITEST_OUTCOMES)) return;
    const outcome = state === "passed" && test.options.fails ? "skipped" : VITEST_OUTCOMES[state];
    const facts = state === "failed" ? failure(errors?.[0]) : outcome === "skipped" ? { says: skipped(test.options) } : {};
    this.#tests += 1;
    say("test", { id: vitestId(test), phase: "call", outcome, ...facts });
  }

  onTestSuiteResult(suite) {
    for (const error of suite.errors()) {
      const id = vitestId(suite);
      say("scope", { id, phase: "setup", outcome: "failed", ...failure(error) });
    }
  }

  onTestModuleEnd(module) {
    if (this.#said.has(module.moduleId)) return;
    this.#said.add(module.moduleId);
    for (const error of module.errors()) {
      say("scope", { id: inside(module.moduleId), phase: "collect", outcome: "failed", ...failure(error) });
    }
  }

  onTestRunEnd(modules, errors, reason) {
    for (const module of modules) this.onTestModuleEnd(module); // vitest 3 says no end of one that cannot be loaded
    for (const error of errors) say("scope", { id: "", phase: "teardown", outcome: "failed", ...failure(error) });
    if (reason !== "interrupted") say("end", { status: reason === "passed" ? 0 : 1, collected: this.#tests });
  }

  // jest

  onRunStart() {
    let version = "";
    try {
      const asked = createRequire(join(ROOT, "package.json")).resolve("jest/package.json");
      version = JSON.parse(readFileSync(asked, "utf8")).version;
    } catch {
      // the runner is not called so here; its version is only shown
    }
    begin("jest", version);
  }

  onTestCaseStart(test, started) {
    say("start", { id: jestId(test, started) });
  }

  #jest(test, result) {
    const id = jestId(test, result);
    this.#said.add(id);
    this.#tests += 1;
    const outcome = result.failing && result.status === "passed" ? "skipped" : (JEST_OUTCOMES[result.status] ?? "skipped");
    const facts = outcome === "failed" ? jestFailure(result.failureMessages?.[0]) : {};
    const says = outcome === "skipped" ? { says: result.failing ? skipped({ fails: true }) : skipped({}) } : {};
    say("test", { id, phase: "call", outcome, ...facts, ...says });
  }

  onTestFileResult(test, results) {
    for (const result of results.testResults) {
      if (!this.#said.has(jestId(test, result))) this.#jest(test, result);
    }
    const error = results.testExecError ?? (results.testResults.length ? null : results.failureMessage);
    if (error) {
      const facts = typeof error === "string" ? jestFailure(error) : failure(error);
      say("scope", { id: inside(test.path), phase: "collect", outcome: "failed", ...facts });
    }
  }

  onRunComplete(contexts, results) {
    if (results.wasInterrupted) return;
    say("end", { status: results.numFailedTests + results.numRuntimeErrorTestSuites ? 1 : 0, collected: this.#tests });
  }
}
