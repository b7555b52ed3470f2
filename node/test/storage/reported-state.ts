/** The report of open-and-report.ts about a data directory. */
export type ReportedState =
  | {
      readonly kind: "served";
      readonly revision: number;
      /** Running digest of all changes. */
      readonly digest: number;
      /** Rows of the state, and a checksum over all of them. */
      readonly rows: number;
      readonly checksum: number;
    }
  | { readonly kind: "refused"; readonly state: string; readonly reason: string }
  | { readonly kind: "error"; readonly error: string; readonly message: string };
