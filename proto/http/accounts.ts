/** Users and API keys. Times are in ISO 8601, in UTC, with milliseconds. */

/** A user. */
export interface UserBody {
  readonly user_id: string;
  readonly email: string;
  readonly role: "viewer" | "member" | "admin" | "owner";
  /** `*` = all. */
  readonly namespaces: readonly string[];
  /** Unverified until the user has confirmed the mail address. */
  readonly status: "unverified" | "active" | "disabled";
  readonly created_at: string;
}

/** A page of users. */
export interface UsersBody {
  readonly users: readonly UserBody[];
  /** Cursor of the next page; null if this is the last page. */
  readonly next_cursor: string | null;
}

/** The answer to a login. */
export interface LoginBody {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly token_type: "Bearer";
  readonly user: Pick<UserBody, "user_id" | "email" | "role" | "namespaces">;
}

/** An API key without its secret. */
export interface ApiKeyBody {
  readonly api_key_id: string;
  readonly name: string;
  /** The part of the key that is not secret. */
  readonly key_prefix: string;
  readonly created_at: string;
  /** Null = never. */
  readonly expires_at: string | null;
  /** To the minute; null = never. */
  readonly last_used_at: string | null;
  /** Null = not revoked. */
  readonly revoked_at: string | null;
}

/** A page of API keys. */
export interface ApiKeysBody {
  readonly keys: readonly ApiKeyBody[];
  /** Cursor of the next page; null if this is the last page. */
  readonly next_cursor: string | null;
}

/** A new API key: the only answer that contains the key itself. */
export interface CreatedApiKeyBody extends Pick<ApiKeyBody, "api_key_id" | "name" | "created_at" | "expires_at"> {
  readonly key: string;
}
