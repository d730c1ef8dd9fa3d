import { argon2, pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'

const derivePbkdf2 = promisify(pbkdf2)
const deriveArgon2 = promisify(argon2)

/** Cost parameters of a password hash, from the `pwd_hash_params` of a library. */
type PasswordHashCost =
  | { readonly algorithm: 'pbkdf2_sha256'; readonly rounds: number }
  | {
      readonly algorithm: 'argon2id'
      readonly passes: number
      /** KiB. */
      readonly memory: number
      readonly parallelism: number
    }

const MAX_ROUNDS = 1_000_000
const MAX_PASSES = 10
const MAX_MEMORY_KIB = 262_144
const MAX_LANES = 16

/** Parses the cost; undefined for an unknown algorithm or a cost above our limits, which would allow denial of service. */
export function parsePasswordHashCost(algorithm: string, params: string): PasswordHashCost | undefined {
  if (algorithm === 'pbkdf2_sha256') {
    const rounds = numbersIn(params || '1000', 1)?.[0] ?? 0
    return rounds >= 1 && rounds <= MAX_ROUNDS ? { algorithm, rounds } : undefined
  }
  if (algorithm !== 'argon2id') return undefined
  const [passes = 0, memory = 0, parallelism = 0] = numbersIn(params || '2,102400,8', 3) ?? []
  const isWithinLimits = passes <= MAX_PASSES && memory <= MAX_MEMORY_KIB && parallelism <= MAX_LANES
  const isValid = passes >= 1 && parallelism >= 1 && memory >= 8 * parallelism
  return isWithinLimits && isValid ? { algorithm, passes, memory, parallelism } : undefined
}

/** 32 bytes, computed in the thread pool. */
export function passwordHash(message: Buffer, salt: Buffer, cost: PasswordHashCost): Promise<Buffer> {
  if (cost.algorithm === 'pbkdf2_sha256') return derivePbkdf2(message, salt, cost.rounds, 32, 'sha256')
  const { passes, memory, parallelism } = cost
  return deriveArgon2('argon2id', { message, nonce: salt, tagLength: 32, passes, memory, parallelism })
}

function numbersIn(params: string, count: number): number[] | undefined {
  return /^\d{1,9}(?:,\d{1,9})*$/.test(params) && params.split(',').length === count
    ? params.split(',').map(Number)
    : undefined
}
