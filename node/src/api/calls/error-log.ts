/** The log for errors whose details callers must not see, such as a pino logger. */
export interface ErrorLog {
  error(fields: object, message: string): void;
}
