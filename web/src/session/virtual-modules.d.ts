declare module 'virtual:common-passwords' {
  /** Whether a password is so common that others guess it. `names` are those of the account. */
  export function isCommonPassword(password: string, names: readonly string[]): boolean
}
