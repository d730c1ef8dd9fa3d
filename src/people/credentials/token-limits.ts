/**
 * How many credentials of a kind an account can have. Beyond them, those that were not used for the longest time end: a refusal would lock people out. Tests
 * lower them.
 */
export const tokenLimits = {
  /** API tokens of an account, which are its sessions and devices. */
  api: 1000,
  /** Sync tokens of an account for one library. */
  syncPerLibrary: 100,
}
