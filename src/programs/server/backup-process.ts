import type { Config } from '../../base/config/index.ts'
import { serveSideProcess } from '../../platform/database/index.ts'
import { backUp, pruneBackups, verifyBackups } from '../assembly/index.ts'

/** What the side process does, with the settings of the server. */
export interface BackupJob {
  readonly kind: 'backup' | 'verify'
  readonly config: Config
  readonly target: string
  /** The name of the lease of the server under which the backup runs. */
  readonly lease?: string
}

serveSideProcess(async (reader, { kind, config, target, lease }: BackupJob) => {
  if (kind === 'verify') return verifyBackups(config, target, { readData: true })
  const { id, addedBytes, damaged, gaps } = await backUp(config, target, reader, lease)
  await pruneBackups(config, target)
  return { id, addedBytes, damaged, gaps }
})
