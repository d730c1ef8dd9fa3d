/** Why a file gives no text, in words that follow "The file". */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
