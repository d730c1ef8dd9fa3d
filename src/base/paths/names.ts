/** Maximum bytes of a name in UTF-8. */
const MAX_NAME_BYTES = 255

// NFC does not change characters below U+0300, so most names need no normalization.
const mayCompose = /[\u0300-\uffff]/

/** The NFC form of well-formed text. */
export function toNfc(text: string): string {
  return mayCompose.test(text) ? text.normalize('NFC') : text
}

/**
 * The name in NFC, as it is stored; undefined if it is not a valid name of a file, folder or library.
 * The one rule for names from the web API, transfers and WebDAV.
 */
export function parseName(text: string): string | undefined {
  // NFC shortens text by a small factor at most, so a much longer text can be rejected without it.
  if (text.length > 4 * MAX_NAME_BYTES || !text.isWellFormed()) return undefined
  const name = toNfc(text)
  return isStorableName(name) && !/[\\\u0000-\u001f\u007f-\u009f]/.test(name) ? name : undefined
}

/** Whether a tree pushed by a sync client may contain this name. It is stored as sent, without normalization. */
export function isStorableName(text: string): boolean {
  if (text === '' || text === '.' || text === '..' || text.length > MAX_NAME_BYTES) return false
  if (/[/\0]/.test(text) || !text.isWellFormed()) return false
  return Buffer.byteLength(text) <= MAX_NAME_BYTES
}

/** Compares names by their UTF-8 bytes, ascending. Dirs are stored in descending order. */
export function compareNames(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return utf8Rank(x) - utf8Rank(y)
  }
  return a.length - b.length
}

/**
 * Whether `<` agrees with compareNames for this name and any other. They differ only where a surrogate meets a character from
 * U+E000 on, so it is enough that one of the names has neither.
 */
export function comparesNatively(name: string): boolean {
  return !/[\ud800-\uffff]/.test(name)
}

// A surrogate is part of a character above U+FFFF, whose UTF-8 sorts after U+E000–U+FFFF.
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/**
 * The wanted name if it is free, otherwise the first free one of `base (1).ext`, `base (2).ext` …
 * The base is shortened if the number does not fit. Numbers below `from` are known to be taken.
 */
export function freeName(wanted: string, taken: (name: string) => boolean, from = 1): string {
  if (!taken(wanted)) return wanted
  // A leading dot starts no extension: `.bashrc` becomes `.bashrc (1)`.
  const dot = wanted.lastIndexOf('.')
  for (let n = from; ; n++) {
    const name = insertBefore(wanted, dot > 0 ? dot : wanted.length, ` (${n})`)
    if (!taken(name)) return name
  }
}

/** As freeName, with the number after the whole name: `v1.2 (1)`. */
export function freeWholeName(wanted: string, taken: (name: string) => boolean): string {
  if (!taken(wanted)) return wanted
  for (let n = 1; ; n++) {
    const name = insertBefore(wanted, wanted.length, ` (${n})`)
    if (!taken(name)) return name
  }
}

/**
 * The name of a conflict file of a merge: `base (SFConflict who YYYY-MM-DD-HH-MM-SS).ext`, in UTC.
 * `who` is left out if empty; `when` is in Unix seconds.
 */
export function conflictName(name: string, who: string, when: number): string {
  const seconds = Math.min(Math.max(Math.trunc(when), 0), 253_402_300_799) // The year 9999.
  const time = new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[T:]/g, '-')
  // The modifier is untrusted text from the tree of a client.
  const account = shorten(who.toWellFormed().replace(/[/\\\u0000-\u001f\u007f-\u009f]/g, '_'), 100)
  const dot = name.lastIndexOf('.')
  return insertBefore(
    name,
    dot < 0 ? name.length : dot,
    ` (SFConflict ${account ? `${account} ` : ''}${time})`,
  )
}

function insertBefore(name: string, at: number, addition: string): string {
  const ending = addition + name.slice(at)
  const room = MAX_NAME_BYTES - Buffer.byteLength(ending)
  // An extension that leaves no room for a base is not treated as one.
  if (room < 1 && at < name.length) return insertBefore(name, name.length, addition)
  return shorten(name.slice(0, at), room) + ending
}

/** Truncates text to `room` bytes of UTF-8, at a character boundary. */
function shorten(text: string, room: number): string {
  if (Buffer.byteLength(text) <= room) return text
  const bytes = Buffer.from(text)
  let end = Math.max(room, 0)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
