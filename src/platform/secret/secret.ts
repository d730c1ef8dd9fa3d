import { createHash, randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'

const fewestCharacters = 16

/**
 * The secret of the server as a key ring. The first key encrypts and signs. The others were the first before a rotation: what they
 * encrypted, signed and derived is still accepted.
 */
export type ServerSecret = readonly [current: Buffer, ...previous: Buffer[]]

/** The secret cannot be used. The message says how to fix it. */
export class SecretError extends Error {
  override name = 'SecretError'
}

/** A key that was the current one until a rotation. */
interface PreviousKey {
  readonly text: string
  /** ISO 8601. */
  readonly until: string
}

/** The content of the file `secret`: the current key on the first line, unless the settings give it, then the previous ones. */
interface SecretFile {
  readonly current: string | undefined
  readonly previous: readonly PreviousKey[]
}

/**
 * Loads the key ring. The current key is the given text, or else the one in the file, or else 32 random bytes that are written to the
 * file as hex. Copying the file's text to another node gives it the same secret.
 */
export async function loadSecret(file: string, given?: string): Promise<ServerSecret> {
  const kept = await readSecret(file)
  if (given !== undefined) {
    const other = kept === undefined ? [] : keysOf(kept)
    return [keyFrom(given, 'the secret given in the settings'), ...other.map((text) => Buffer.from(text))]
  }
  if (kept === undefined) await makeSecret(file)
  // Read back, because another process may have created the file first.
  const { current = '', previous } = kept ?? (await readSecret(file)) ?? { previous: [] }
  return [keyFrom(current, `the secret in ${file}`), ...previous.map(({ text }) => Buffer.from(text))]
}

/** Identifies a key without revealing it. */
export function secretId(key: Buffer): string {
  return createHash('sha256').update('key id\0').update(key).digest('hex').slice(0, 8)
}

/**
 * Makes a new current key and keeps the old one as a previous key. Servers use it after their next start. Returns the text of the new key if
 * the current one is given in the settings, where only the operator can replace it.
 */
export async function rotateSecret(
  file: string,
  given: string | undefined,
  now: Date,
): Promise<string | undefined> {
  const [current] = await loadSecret(file, given)
  const kept = (await readSecret(file)) ?? { current: undefined, previous: [] }
  const until = now.toISOString()
  const fresh = randomBytes(32).toString('hex')
  const replaced = keysOf({ current: kept.current, previous: [] }).filter((text) => text !== String(current))
  const previous = [String(current), ...replaced].map((text) => ({ text, until }))
  await writeSecret(file, {
    current: given === undefined ? fresh : undefined,
    previous: [...previous, ...kept.previous.filter(({ text }) => text !== String(current))],
  })
  return given === undefined ? undefined : fresh
}

/** Removes all previous keys. */
export async function removePreviousKeys(file: string, given: string | undefined): Promise<void> {
  if (given !== undefined) return rm(file, { force: true })
  const [current] = await loadSecret(file)
  await writeSecret(file, { current: String(current), previous: [] })
}

/** The key ring as text, which restores it when it is written to the file; null if there is none yet. */
export async function secretText(file: string, given: string | undefined): Promise<string | null> {
  const kept = await readSecret(file)
  if (given === undefined) return kept === undefined ? null : textOf(kept)
  const until = new Date().toISOString()
  const others = keysOf({ current: kept?.current, previous: [] }).map((text) => ({ text, until }))
  return textOf({ current: given, previous: [...others, ...(kept?.previous ?? [])] })
}

function keyFrom(text: string, what: string): Buffer {
  const secret = text.trim()
  if (secret.length >= fewestCharacters) return Buffer.from(secret)
  throw new SecretError(`${what} is too short: use at least ${fewestCharacters} characters`)
}

function keysOf({ current, previous }: SecretFile): string[] {
  return [...(current === undefined ? [] : [current]), ...previous.map(({ text }) => text)]
}

async function readSecret(file: string): Promise<SecretFile | undefined> {
  let content: string
  try {
    content = await readFile(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const previous: PreviousKey[] = []
  const rest: string[] = []
  for (const line of content.split('\n')) {
    const [, until, encoded] = /^previous [0-9a-f]{8} (\S+) ([\w-]+)$/.exec(line) ?? []
    if (until === undefined || encoded === undefined) rest.push(line)
    else previous.push({ text: Buffer.from(encoded, 'base64url').toString(), until })
  }
  const current = rest.join('\n').trim()
  return { current: current === '' && previous.length > 0 ? undefined : current, previous }
}

function textOf({ current, previous }: SecretFile): string {
  const lines = previous.map(({ text, until }) => {
    const key = Buffer.from(text)
    return `previous ${secretId(key)} ${until} ${key.toString('base64url')}`
  })
  return [...(current === undefined ? [] : [current]), ...lines, ''].join('\n')
}

/** Replaces the file atomically and durably. */
async function writeSecret(file: string, content: SecretFile): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await using handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(textOf(content))
    await handle.sync()
    await rename(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
  await using folder = await open(path.dirname(file))
  await folder.sync()
}

/** Creates the file atomically and never replaces an existing one. */
async function makeSecret(file: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await using handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await handle.sync()
    await link(temporary, file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(temporary, { force: true })
  }
  await using folder = await open(path.dirname(file))
  await folder.sync()
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
