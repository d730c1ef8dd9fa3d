import { fail } from '../../base/errors.ts'
import {
  admitArchive,
  deleteArchive,
  fits,
  listArchives,
  setArchiveBytes,
} from '../../libraries/archives/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { ArchivesOptions } from './archive-options.ts'

// The limits hold for all nodes together, so each decision holds a mutex of the cluster. Keys of libraries are positive.
const ADMISSION_MUTEX = -1
const RETRY_SECONDS = 30

type AdmissionOptions = Pick<ArchivesOptions, 'db' | 'now' | 'space'>

/** Runs `insert` if the limits admit one more archive. Returns the ids of archives that were deleted to make room. Throws busy. */
export async function insertIfAdmitted(
  { db, now, space }: AdmissionOptions,
  wanted: { readonly requester: string; readonly bytes: number },
  insert: (tx: Transaction) => Promise<void>,
): Promise<string[]> {
  const evicted: string[] = []
  await withAdmission(db, async (tx) => {
    evicted.length = 0
    const keys = admitArchive(await listArchives(tx), wanted, { space, now: now() })
    if (keys === undefined) return fail({ code: 'busy', seconds: RETRY_SECONDS })
    for (const key of keys) evicted.push((await deleteArchive(tx, key)) ?? '')
    await insert(tx)
  })
  return evicted
}

/** Reserves more space for a claimed archive. False if there is not enough, or the claim is lost. */
export function reserveMore(
  { db, space }: AdmissionOptions,
  claimed: { readonly key: number; readonly id: string; readonly claim: string; readonly requester: string },
  bytes: number,
): Promise<boolean> {
  return withAdmission(db, async (tx) => {
    const others = (await listArchives(tx)).filter(({ key }) => key !== claimed.key)
    return fits(others, claimed.requester, bytes, space) && (await setArchiveBytes(tx, claimed, bytes))
  })
}

function withAdmission<T>(db: Database, decide: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.withMutex(ADMISSION_MUTEX, () => db.write(decide, { durable: 'replicated' }))
}
