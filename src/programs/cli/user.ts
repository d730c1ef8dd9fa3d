import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import { type Account, type AccountChanges, displayName } from '../../people/accounts/index.ts'
import { readablePassword } from '../../people/passwords/index.ts'
import { removeSecondFactors } from '../../people/second-factors/index.ts'
import type { OpenAccounts } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { configFrom, withSettings } from './config-flags.ts'
import { columns, print, sizeText } from './output.ts'

interface CommonOptions {
  json?: true
  data?: string
  database?: string
}

interface PasswordOptions extends CommonOptions {
  passwordStdin?: true
}

interface AddOptions extends PasswordOptions {
  admin?: true
  guest?: true
  name?: string
  quotaMb?: string
}

/** Adds `carrel user add|list|password|verify-contact|reset-second-factor|remove`, which work on the database, with or without a server running. */
export function addUserCommands(program: Command): void {
  const user = program
    .command('user')
    .description('manage accounts; a running server sees the change at once')

  common(user.command('add').description('add an account').argument('<email>', 'the id of the new account'))
    .addOption(new Option('--admin', 'make it an administrator').conflicts('guest'))
    .addOption(new Option('--guest', 'make it a guest, who cannot make libraries'))
    .option('--name <name>', 'the name that is shown')
    .option('--quota-mb <megabytes>', 'the space it may use; 0 means the default of the server')
    .option('--password-stdin', 'read the password from standard input instead of generating one')
    .action(add)
  common(user.command('list').description('list accounts')).action(list)
  common(
    user
      .command('password')
      .description('change a password, which signs the account out everywhere')
      .argument('<email>', 'the id of the account'),
  )
    .option('--password-stdin', 'read the password from standard input instead of generating one')
    .action(changePassword)
  common(
    user
      .command('verify-contact')
      .description('set the contact address of an account, which can then sign in with it')
      .argument('<email>', 'the id of the account')
      .argument('<address>', 'the address that belongs to its holder'),
  ).action(verifyContact)
  common(
    user
      .command('reset-second-factor')
      .description('remove the second factors of an account whose holder has lost them')
      .argument('<email>', 'the id of the account'),
  ).action(resetSecondFactor)
  common(
    user
      .command('remove')
      .description('remove an account; its libraries go to the trash')
      .argument('<email>', 'the id of the account'),
  )
    .option('--yes', 'do not ask')
    .action(remove)
}

function common(command: Command): Command {
  return withSettings(command, ['data', 'database']).option('--json', 'print one JSON document')
}

async function open(options: CommonOptions): Promise<OpenAccounts> {
  const config = configFrom(options)
  const { openAccounts } = await import('./accounts.ts')
  return openAccounts(config)
}

async function add(email: string, options: AddOptions): Promise<void> {
  const role: Account['role'] = options.admin ? 'admin' : options.guest ? 'guest' : 'default'
  const changes: AccountChanges = {
    role,
    ...(options.name !== undefined && { name: options.name }),
    ...(options.quotaMb !== undefined && { quota: bytesOf(options.quotaMb) }),
  }
  await using opened = await open(options)
  const { password, generated } = await choosePassword(options)
  const account = await opened.accounts.create({ ...changes, email, password }, opened.operator)
  const [description] = await describe([account], opened)
  print(options.json === true, { ...description, ...generated }, [
    `Added ${account.email}.`,
    ...passwordLines(generated),
  ])
}

async function changePassword(email: string, options: PasswordOptions): Promise<void> {
  await using opened = await open(options)
  await opened.accounts.get(email)
  const { password, generated } = await choosePassword(options)
  const account = await opened.accounts.setPassword(
    email,
    { password, chosenByOwner: false },
    opened.operator,
  )
  print(options.json === true, { email: account.email, ...generated }, [
    `Changed the password of ${account.email}; it is signed out everywhere.`,
    ...passwordLines(generated),
  ])
}

/** Takes the address as an argument, because the account holder may change the stored one concurrently. */
async function verifyContact(email: string, address: string, options: CommonOptions): Promise<void> {
  const changes = { contactEmail: address, contactVerified: true } as const
  await using opened = await open(options)
  const account = await opened.accounts.update(email, changes, opened.operator)
  print(options.json === true, { email: account.email, contactEmail: account.contactEmail }, [
    `${account.email} can sign in with ${account.contactEmail}.`,
  ])
}

async function resetSecondFactor(email: string, options: CommonOptions): Promise<void> {
  await using opened = await open(options)
  const account = await opened.accounts.get(email)
  if (!(await removeSecondFactors(opened, account, opened.operator))) {
    throw new CommandError(`${account.email} has no second factor.`)
  }
  print(options.json === true, { email: account.email, hasSecondFactor: false }, [
    `${account.email} signs in with its password alone.`,
  ])
}

async function list(options: CommonOptions): Promise<void> {
  await using opened = await open(options)
  const users = await describeAll(opened)
  const rows = users.map((user) => [
    user.email,
    user.name,
    user.role,
    user.active ? 'yes' : 'no',
    sizeText(user.usageBytes),
    user.quotaBytes === null ? 'unlimited' : sizeText(user.quotaBytes),
    user.lastLogin?.slice(0, 10) ?? 'never',
  ])
  const headings = ['E-MAIL', 'NAME', 'ROLE', 'ACTIVE', 'USED', 'QUOTA', 'LAST LOGIN']
  print(options.json === true, { users }, columns([headings, ...rows]))
}

async function remove(email: string, options: CommonOptions & { yes?: true }): Promise<void> {
  await using opened = await open(options)
  const account = await opened.accounts.get(email)
  const question = `Remove ${account.email} and put its libraries into the trash?`
  if (!options.yes && !(await confirm(question))) {
    throw new CommandError(`${account.email} was not removed: answer y, or add --yes.`)
  }
  await opened.accounts.remove(account.email, opened.operator)
  print(options.json === true, { email: account.email, removed: true }, [`Removed ${account.email}.`])
}

async function describeAll(opened: OpenAccounts): Promise<Description[]> {
  const all: Description[] = []
  for (;;) {
    const { accounts, total } = await opened.accounts.list({ offset: all.length, limit: 1000 })
    all.push(...(await describe(accounts, opened)))
    if (accounts.length === 0 || all.length >= total) return all
  }
}

interface Description {
  readonly email: string
  readonly name: string
  readonly role: Account['role']
  readonly active: boolean
  readonly usageBytes: number
  /** Null for no limit. */
  readonly quotaBytes: number | null
  readonly created: string
  readonly lastLogin: string | null
}

async function describe(accounts: readonly Account[], { quotas }: OpenAccounts): Promise<Description[]> {
  const usage = await quotas.usageOfMany(accounts)
  const time = (seconds: number) => new Date(seconds * 1000).toISOString()
  return accounts.map((account) => ({
    email: account.email,
    name: displayName(account),
    role: account.role,
    active: account.active,
    usageBytes: usage.get(account.key) ?? 0,
    quotaBytes: quotas.limitOf(account) ?? null,
    created: time(account.createdAt),
    lastLogin: account.lastLoginAt === null ? null : time(account.lastLoginAt),
  }))
}

/** A generated password is printed. A given one is not. */
async function choosePassword(options: PasswordOptions) {
  if (options.passwordStdin) return { password: await readPasswordFromInput(), generated: {} }
  const password = readablePassword()
  return { password, generated: { generatedPassword: password } }
}

function passwordLines({ generatedPassword }: { generatedPassword?: string }): string[] {
  return generatedPassword === undefined ? [] : [`Password: ${generatedPassword} (shown only this once)`]
}

function bytesOf(megabytes: string): number {
  const bytes = /^\d{1,9}$/.test(megabytes) ? Number(megabytes) * 1_000_000 : Number.NaN
  if (Number.isNaN(bytes)) {
    throw new CommandError(
      `Set --quota-mb to a whole number of megabytes, not ${JSON.stringify(megabytes)}.`,
      {
        exitCode: 2,
      },
    )
  }
  return bytes
}

/** Asks on stderr, so that stdout has only the result. Anything but yes, and the end of the input, means no. */
async function confirm(question: string): Promise<boolean> {
  using lines = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const reply = await Promise.race([lines.question(`${question} [y/N] `), closed])
  return /^y(es)?$/i.test(reply.trim())
}

/** All of standard input, without a final line end. */
async function readPasswordFromInput(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
