/** Names that the server accepts. Checked here, because one bad name fails a whole request. */

const MAX_BYTES = 255
const encoder = new TextEncoder()

export const byteLength = (text: string) => encoder.encode(text).length

/** The Unicode form in which names are stored (NFC). */
export const toNfc = (name: string) => name.normalize('NFC')

export function isValidName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || !name.isWellFormed()) return false
  return !/[\\/\u0000-\u001f\u007f-\u009f]/.test(name) && byteLength(toNfc(name)) <= MAX_BYTES
}

/** The first of `a.txt`, `a (1).txt`, `a (2).txt` … that is not taken. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wanted)) return wanted
  for (let number = 1; ; number += 1) {
    const name = numbered(wanted, number)
    if (!isTaken(name)) return name
  }
}

/** Whether `name` is one that `freeName` gives instead of `wanted`. */
export function isNumbered(name: string, wanted: string): boolean {
  const number = / \((?<number>[1-9]\d*)\)[^)]*$/.exec(name)?.groups?.['number']
  return number !== undefined && numbered(wanted, Number(number)) === name
}

function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.')
  // A leading dot starts no extension.
  const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const ending = ` (${number})${extension}`
  return shortened(base, MAX_BYTES - byteLength(ending)) + ending
}

/** The longest prefix of whole characters that fits into `room` bytes. */
function shortened(text: string, room: number): string {
  let kept = ''
  let length = 0
  for (const character of text) {
    length += byteLength(character)
    if (length > room) break
    kept += character
  }
  return kept
}
