/** Runs work with more variables in the environment of this process, and removes them afterwards. */
export function withEnvironment<Value>(variables: Readonly<Record<string, string>>, work: () => Value): Value {
  try {
    Object.assign(process.env, variables);
    return work();
  } finally {
    for (const name of Object.keys(variables)) {
      delete process.env[name];
    }
  }
}
