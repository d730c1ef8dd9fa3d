import { DomainError } from '../../../base/errors.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { transferAllLibraries } from '../../../libraries/library/index.ts'
import {
  type Account,
  type AccountChanges,
  auditActor,
  parseEmail,
  roleAllows,
} from '../../../people/accounts/index.ts'
import { accepting, integer, optionalText, type Reader, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse, Refusal } from '../../../platform/responses/index.ts'
import {
  effectiveRole,
  emailParam,
  megabytes,
  optionalFlag,
  strictFlag,
  withoutUndefined,
  withRuleMessages,
} from '../accounts/account-input.ts'
import { account as accountDescribed, done, olderAccount } from './accounts.schema.ts'
import { adminRoute as route } from './services.ts'
import { accountToWire } from './user-wire.ts'

const scopes = ['db', 'ldap', 'ldapimport']

const scope: Reader<string> = accepting({ type: 'string', enum: scopes }, (fields, name) => {
  const sent = text()(fields, name) || 'DB'
  if (scopes.includes(sent.toLowerCase())) return sent.toLowerCase()
  throw errorMessage(400, `${sent} is not a valid scope value`)
})

const fields = {
  password: optionalText(),
  is_staff: optionalFlag,
  is_active: strictFlag,
  name: optionalText(),
  login_id: optionalText(),
  department: optionalText(),
  institution: optionalText(),
  storage: megabytes({
    empty: "Space quota can't be empty",
    tooLow: 'Space quota is too low (minimum value is 0)',
  }),
  list_in_address_book: optionalFlag,
}

type Sent = { [K in keyof typeof fields]: ReturnType<(typeof fields)[K]> }

export const accountsRoutes = [
  route({
    method: 'GET',
    path: '/api2/accounts/',
    auth: 'admin',
    summary: 'Lists the ids of all accounts.',
    compatibility: 'supported',
    callers: 'administrators',
    query: {
      start: integer({ default: 0, min: 0, lenient: true }),
      limit: integer({ default: 100, min: 1, max: 100_000, lenient: true }),
      scope,
    },
    responses: () => ({
      200: json(
        kinds.array(kinds.record('AccountId', { email: kinds.account, source: kinds.literal('DB') })),
        'The accounts. Empty for a `scope` other than `DB`.',
      ),
    }),
    details: () => ({
      parameters: {
        start: { description: 'The number of accounts to skip.' },
        limit: { description: 'The number of accounts to list.' },
        scope: { description: 'Where accounts come from. Default: `DB`, the only one here.' },
      },
    }),
    async handle({ query }, { accounts }) {
      if (query.scope !== 'db') return []
      const page = await accounts.list({ offset: query.start, limit: query.limit })
      return page.accounts.map(({ email }) => ({ email, source: 'DB' }))
    },
  }),
  route({
    method: 'PUT',
    path: '/api2/accounts/:email/',
    auth: 'admin',
    summary: 'Creates or changes an account.',
    compatibility: { result: 'different', note: 'The last administrator cannot be demoted or deactivated.' },
    params: { email: emailParam },
    body: fields,
    responses: () => ({
      200: json(olderAccount, 'The changed account.'),
      201: json(olderAccount, 'The new account.', { Location: 'The path of the account in this API.' }),
      400: json(
        kinds.record('AccountFieldErrors', {
          error_msg: kinds.object({ password: kinds.array(kinds.text('What is wrong with it.')) }),
        }),
        'A field is invalid.',
      ),
    }),
    details: () => ({
      parameters: {
        ...accountDescribed,
        password: { description: 'The password. Required for a new account.' },
        storage: { description: 'The quota in MB. 0 is no limit of its own.' },
      },
    }),
    async handle({ user, params, body, request }, services) {
      const { accounts } = services
      const by = auditActor(user, request)
      const email = emailIn(params.email)
      const found = await accounts.find(email)
      if (found) {
        const account = await withRuleMessages(accounts.update(email, changesIn(body, found), by))
        return accountToWire(account, services)
      }
      const password = newPassword(body.password)
      const wanted = { ...changesIn(body), email, password }
      const account = await withRuleMessages(accounts.create(wanted, by))
      const headers = { Location: `/api2/accounts/${encodeURI(email)}/` }
      return jsonResponse(201, await accountToWire(account, services), headers)
    },
  }),
  route({
    method: 'GET',
    path: '/api2/accounts/:email/',
    auth: 'admin',
    summary: 'Returns one account.',
    compatibility: 'supported',
    params: { email: emailParam },
    responses: () => ({ 200: json(olderAccount, 'The account.') }),
    async handle({ params }, services) {
      return accountToWire(await services.accounts.get(emailIn(params.email)), services)
    },
  }),
  route({
    method: 'POST',
    path: '/api2/accounts/:email/',
    auth: 'admin',
    summary: 'Transfers all libraries of an account to another account.',
    compatibility: 'supported',
    params: { email: emailParam },
    body: { op: text('op can only be migrate.'), to_user: text() },
    responses: () => done('The libraries were transferred.'),
    details: () => ({
      errors: [443],
      parameters: {
        op: { required: true, description: 'Only `migrate`.' },
        to_user: { required: true, description: 'The account that gets the libraries.' },
      },
    }),
    async handle({ user, params, body, request }, { accounts, core }) {
      if (body.op.toLowerCase() !== 'migrate') throw errorMessage(400, 'op can only be migrate.')
      const email = emailIn(params.email)
      if (body.to_user === '') throw errorMessage(400, 'to_user invalid.')
      const from = await accounts.get(email)
      const to = await accounts.get(body.to_user)
      if (from.key === to.key) throw errorMessage(400, 'to_user invalid.')
      if (!roleAllows(to.role, 'add-library')) {
        const role = `role of ${to.email} is ${to.role}`
        throw errorMessage(403, `Transfer failed: ${role}, can not add library.`)
      }
      await transferAllLibraries(core, from, to, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/accounts/:email/',
    auth: 'admin',
    summary: 'Removes an account; its libraries go to the trash.',
    compatibility: { result: 'different', note: 'The last administrator cannot be removed.' },
    params: { email: emailParam },
    responses: () => ({
      ...done('The account was deleted.'),
      202: json(kinds.successFlag, 'There is no such account any more.'),
    }),
    async handle({ user, params, request }, { accounts }) {
      try {
        await accounts.remove(params.email, auditActor(user, request))
        return { success: true }
      } catch (error) {
        if (!(error instanceof DomainError) || error.fault.code !== 'account-not-found') throw error
        // Deleting is idempotent.
        return jsonResponse(202, { success: true })
      }
    },
  }),
]

function emailIn(text: string): string {
  return parseEmail(text) ?? refuseEmail(text)
}

function refuseEmail(text: string): never {
  throw errorMessage(400, `Email ${text} invalid.`)
}

function newPassword(sent: string | undefined): string {
  if (sent) return sent
  const problem = sent === undefined ? 'This field is required.' : 'This field may not be blank.'
  throw new Refusal(400, { error_msg: { password: [problem] } })
}

function changesIn(body: Sent, account?: Account): AccountChanges {
  const role =
    body.is_staff === undefined
      ? undefined
      : effectiveRole(account?.role ?? 'default', body.is_staff, undefined)
  return withoutUndefined({
    password: body.password || undefined,
    role,
    active: body.is_active,
    name: body.name,
    loginId: body.login_id,
    department: body.department,
    institution: body.institution,
    quota: body.storage,
    listInAddressBook: body.list_in_address_book,
  })
}
