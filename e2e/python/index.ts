/** Python for tests that need it. */

export { PythonMissing, pythonEnvironment } from "./python-environment.ts";
