/** Where the servers report what callers must not be told. A pino logger is one. */
export interface ErrorLog {
  error(fields: object, message: string): void;
}
