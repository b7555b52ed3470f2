/** Signals to processes that may be gone. */

/** Sends a signal. Returns false if the process no longer exists. */
export function sendSignal(id: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(id, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") {
      return false;
    }
    throw error;
  }
}
