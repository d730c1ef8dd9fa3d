import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'

const fewestCharacters = 16

/** The secret cannot be used. The message says how to fix it. */
export class SecretError extends Error {
  override name = 'SecretError'
}

/**
 * The secret of the server: the given text, or else the content of the file, or else 32 random bytes that are
 * written to the file as hex. Copying the file's text to another node gives it the same secret.
 */
export async function loadSecret(file: string, given?: string): Promise<Buffer> {
  if (given !== undefined) return secretFrom(given, 'the secret given in the settings')
  const kept = await readSecret(file)
  if (kept !== undefined) return secretFrom(kept, `the secret in ${file}`)
  await makeSecret(file)
  // Read back, because another process may have created the file first.
  return secretFrom((await readSecret(file)) ?? '', `the secret in ${file}`)
}

function secretFrom(text: string, what: string): Buffer {
  const secret = text.trim()
  if (secret.length >= fewestCharacters) return Buffer.from(secret)
  throw new SecretError(`${what} is too short: use at least ${fewestCharacters} characters`)
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
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
