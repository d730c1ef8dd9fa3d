/**
 * The normal form of a name typed at a sign-in: trimmed, NFC, lower case. Accounts are found by it and attempts are counted by it, so that another
 * spelling of a name is neither another account nor another budget of guesses.
 */
export function loginName(typed: string): string {
  return typed.trim().normalize('NFC').toLowerCase()
}
