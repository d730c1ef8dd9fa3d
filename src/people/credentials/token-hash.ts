import { hash } from 'node:crypto'
import { TwoGenerationCache } from '../../base/scheduling/index.ts'

const MAX_HASHES = 2000

/**
 * Hashes of tokens that came lately, by the token. Clients send the same one with every request, and hashing it costs as much as the lookup of its row. What is cached says nothing
 * about validity.
 */
const hashes = new TwoGenerationCache<string, Buffer>(MAX_HASHES, () => 1)

/** The form in which tokens are stored. */
export function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** As `hashOf`, cached, for a token that a client presents. Undefined unless it has the form of one: 40 hex characters. The bytes are shared. */
export function hashOfToken(token: string): Buffer | undefined {
  const known = hashes.get(token)
  if (known !== undefined) return known
  if (!/^[0-9a-f]{40}$/.test(token)) return undefined
  const made = hashOf(token)
  hashes.set(token, made)
  return made
}
