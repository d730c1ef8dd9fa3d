import type { ConfigError } from '../../base/config/index.ts'
import { DomainError, type Fault, StartError } from '../../base/errors.ts'
import type { ExportError } from '../../libraries/export/index.ts'
import type { BackupError } from '../../maintenance/backup/index.ts'
import type { ImportError } from '../../maintenance/import/index.ts'
import type { AccountRuleError } from '../../people/accounts/index.ts'
import type { DataFolderInUseError } from '../../platform/data-folder/index.ts'
import type {
  DatabaseError,
  MigrationBackupError,
  NewerSchemaError,
  OlderNodesError,
} from '../../platform/database/index.ts'
import type { SecretError } from '../../platform/secret/index.ts'
import { CommandError } from './command-error.ts'

/** Errors whose message is one sentence that says what to do. */
interface ExpectedErrors {
  BackupError: BackupError
  ConfigError: ConfigError
  ExportError: ExportError
  ImportError: ImportError
  MigrationBackupError: MigrationBackupError
  NewerSchemaError: NewerSchemaError
  OlderNodesError: OlderNodesError
  SecretError: SecretError
}
const expectedErrors: Record<keyof ExpectedErrors, true> = {
  BackupError: true,
  ConfigError: true,
  ExportError: true,
  ImportError: true,
  MigrationBackupError: true,
  NewerSchemaError: true,
  OlderNodesError: true,
  SecretError: true,
}

interface ErrorClasses extends ExpectedErrors {
  AccountRuleError: AccountRuleError
  DatabaseError: DatabaseError
  DataFolderInUseError: DataFolderInUseError
}

/**
 * Whether an error is of a class or of one derived from it, by the name of the class. With `instanceof`, one sentence about a failure
 * would load the database, backups, the import and the export, which takes longer than most commands.
 */
function isA<N extends keyof ErrorClasses>(error: unknown, className: N): error is ErrorClasses[N] {
  return classNamesOf(error).includes(className)
}

function classNamesOf(error: unknown): string[] {
  const names: string[] = []
  if (!(error instanceof Error)) return names
  for (let at: object | null = Object.getPrototypeOf(error); at !== null; at = Object.getPrototypeOf(at)) {
    names.push(at.constructor.name)
  }
  return names
}

/** Distinct, so that a service manager can be told not to start again. */
const DATA_FOLDER_IN_USE = 3

export function exitCodeFor(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode
  return isA(error, 'DataFolderInUseError') ? DATA_FOLDER_IN_USE : 1
}

/** The message for an expected error; undefined for a bug, whose stack is printed instead. */
export function sentenceFor(error: unknown): string | undefined {
  if (isA(error, 'AccountRuleError')) return accountRules[error.code]
  if (error instanceof DomainError) return sentenceForFault(error.fault)
  if (isA(error, 'DatabaseError')) return sentenceForDatabase(error)
  const ofDisk = sentenceForDisk(error)
  if (ofDisk !== undefined) return ofDisk
  if (error instanceof CommandError || error instanceof StartError) return error.message
  return classNamesOf(error).some((name) => Object.hasOwn(expectedErrors, name))
    ? (error as Error).message
    : undefined
}

/** What is printed of an error: one sentence, or the stack of a bug. */
export function textFor(error: unknown): string {
  const stack = error instanceof Error ? error.stack : String(error)
  return (
    sentenceFor(error) ?? `Carrel stopped because of an error nobody expected; please report it.\n${stack}`
  )
}

/** For a disk that an operator has to see to. */
function sentenceForDisk(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, path = 'a file' } = error as NodeJS.ErrnoException
  if (code === 'EROFS')
    return `Cannot write ${path}, because its file system is read-only: see what the kernel says about the disk, repair it, and mount it again.`
  return code === 'ENOSPC'
    ? `Cannot write ${path}, because there is no space left: make room on its disk.`
    : undefined
}

function sentenceForFault(fault: Fault): string | undefined {
  switch (fault.code) {
    case 'account-not-found':
      return `There is no account ${fault.email}: carrel user list shows those there are.`
    case 'account-exists':
      return `There is already an account ${fault.email}: change its password with carrel user password.`
    case 'last-administrator':
      return `${fault.email} is the last administrator, and without one nobody could manage the server: add another first with carrel user add --admin.`
    default:
      return undefined
  }
}

function sentenceForDatabase(error: DatabaseError): string {
  if (error.reason === 'unreachable') {
    return `The database cannot be reached (${error.message}): start it, or correct CARREL_DATABASE.`
  }
  if (error.reason === 'busy') return 'The database is in use by another program for too long: try again.'
  return `The database cannot be used (${error.message}): run carrel doctor to see what is wrong.`
}

const accountRules: Record<AccountRuleError['code'], string> = {
  'email-invalid': 'Give an e-mail address such as ann@example.org.',
  'password-empty': 'Give a password that is not empty.',
  'password-too-short':
    'Give a longer password, at the first start as CARREL_ADMIN_PASSWORD: a new one needs 8 characters, or as many as CARREL_PASSWORD_LENGTH says.',
  'password-too-long': 'Give a password of at most 1024 characters.',
  'password-too-common': 'Give a password that is not a common one.',
  'name-too-long': 'Give a name of at most 64 characters.',
  'name-has-slash': 'Give a name without a slash.',
  'name-invalid': 'Give a name without control characters.',
  'contact-email-invalid': 'Give a contact e-mail address such as ann@example.org.',
  'contact-email-taken': 'Give another contact e-mail: this one belongs to another account.',
  'login-id-empty': 'Give a login id that is not empty.',
  'login-id-invalid': 'Give a login id of at most 255 characters without control characters.',
  'department-too-long': 'Give a department of at most 512 characters.',
  'department-invalid': 'Give a department without control characters.',
  'institution-invalid': 'Give an institution of at most 255 characters without control characters.',
  'account-token-invalid': 'The link has expired or was used already.',
  'quota-invalid': 'Give a quota that is a whole number of bytes.',
}
