import type { Fault } from '../../base/errors.ts'
import { DatabaseError } from '../../platform/database/index.ts'
import { BlockStoreUnavailable } from '../../platform/storage/index.ts'

const RETRY_SECONDS = 5

/** Causes of a wrapped error that are looked at. */
const MAX_DEPTH = 8

/** The fault behind an error of a store: a disk that is full or cannot be written, a lack of descriptors, or a store out of reach. Undefined for any other. */
export function storageFault(thrown: unknown): Fault | undefined {
  let error = thrown
  for (let depth = 0; depth < MAX_DEPTH && error instanceof Error; depth += 1) {
    if (error instanceof BlockStoreUnavailable) return { code: 'busy', seconds: RETRY_SECONDS }
    const fault = error instanceof DatabaseError ? ofDatabase(error) : ofSystem(error)
    if (fault !== undefined) return fault
    error = behind(error)
  }
  return undefined
}

/** Whether a store could not be asked, or its answer is not known: the same work may succeed later. */
export function isPassing(error: unknown): boolean {
  const code = storageFault(error)?.code
  return code === 'busy' || code === 'outcome-unknown'
}

/** Whether a database reported the error. */
export function isOfDatabase(thrown: unknown): boolean {
  let error = thrown
  for (let depth = 0; depth < MAX_DEPTH && error instanceof Error; depth += 1) {
    if (error instanceof DatabaseError) return true
    error = behind(error)
  }
  return false
}

/** The cause of an error. If a disposal failed, too, what had failed before. */
function behind(error: Error): unknown {
  return error instanceof SuppressedError ? error.suppressed : error.cause
}

function ofDatabase({ reason }: DatabaseError): Fault | undefined {
  switch (reason) {
    case 'full':
      return { code: 'disk-full', canDelete: false }
    case 'unwritable':
      return { code: 'disk-unwritable' }
    case 'busy':
    case 'unreachable':
    case 'fenced':
      return { code: 'busy', seconds: RETRY_SECONDS }
    case 'uncertain':
      return { code: 'outcome-unknown' }
    default:
      return undefined
  }
}

function ofSystem(error: Error): Fault | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return { code: 'disk-full', canDelete: false }
    case 'EROFS':
      return { code: 'disk-unwritable' }
    case 'EIO':
      return syscall === 'read' ? undefined : { code: 'disk-unwritable' }
    case 'EMFILE':
    case 'ENFILE':
      return { code: 'busy', seconds: RETRY_SECONDS }
    default:
      return undefined
  }
}
