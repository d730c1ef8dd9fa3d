import { foundation } from './0001-foundation.ts'
import { transfers } from './0002-transfers.ts'
import type { Migration } from './types.ts'

/** Every step of the schema, oldest first. */
export const migrations: readonly Migration[] = [foundation, transfers]
