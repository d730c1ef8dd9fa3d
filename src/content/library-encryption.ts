/** The values a client chose when it made an encrypted library; the server never holds the password. */
export interface LibraryEncryption {
  /** 2, 3 or 4; 1 in libraries of old, which are not made any more. */
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
