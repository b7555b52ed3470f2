/** What members demand of a password, for people. */
export const PASSWORD_RULE = "8 to 1,024 bytes.";
