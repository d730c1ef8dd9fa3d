import { readFile } from 'node:fs/promises'
import { FolderTarget } from './folder-target.ts'
import { BackupRepository } from './repository.ts'
import type { S3Settings } from './s3-target.ts'
import { BackupError, type BackupTarget } from './target.ts'

/** How to reach a target. */
interface TargetSettings {
  /** The content of this file encrypts the backup. */
  readonly passphraseFile: string | undefined
  readonly s3?: S3Settings
}

/** A folder, or `s3://bucket/prefix`. */
async function openTarget(target: string, s3: S3Settings | undefined): Promise<BackupTarget> {
  if (!target.startsWith('s3://') || s3 === undefined) return new FolderTarget(target)
  const { S3Target } = await import('./s3-target.ts')
  return S3Target.open(target, s3)
}

/** Opens the backups in a target. With `create`, an empty target is prepared for backups. Throws BackupError. */
export async function openRepository(
  target: string,
  settings: TargetSettings,
  { create = false } = {},
): Promise<BackupRepository> {
  const passphrase =
    settings.passphraseFile === undefined ? undefined : await readPassphrase(settings.passphraseFile)
  return BackupRepository.open(await openTarget(target, settings.s3), { passphrase, create })
}

async function readPassphrase(file: string): Promise<string> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new BackupError(`The passphrase file ${file} cannot be read: name an existing one.`, { cause })
  }
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase.length >= 8) return passphrase
  throw new BackupError(`The passphrase in ${file} is too short: use at least 8 characters.`)
}
