/** The encryption parameters that a client chose for a library. The server never stores the password. */
export interface LibraryEncryption {
  /** 2, 3 or 4; 1 in old libraries only. */
  readonly version: number
  /** Hex; checks a password. Empty where `pwdHash` replaces it. */
  readonly magic: string
  /** Hex; the data key's secret, encrypted with the password. Empty in version 1, which has none. */
  readonly randomKey: string
  /** Hex; '' below version 3. */
  readonly salt: string
  readonly pwdHash: string
  readonly pwdHashAlgo: string
  readonly pwdHashParams: string
}
