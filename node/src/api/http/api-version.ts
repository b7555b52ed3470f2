/** The header that every answer carries: paths without a version are of this one. */
export const API_VERSION = { name: "API-Version", value: "v1" } as const;
