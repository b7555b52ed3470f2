/** For the packages of the repository: the build of the Python package. */

export { buildPythonPackage } from "./build.ts";
