import { fail } from '../../../base/errors.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import {
  type Account,
  type AccountChanges,
  type Accounts,
  auditActor,
  parseEmail,
} from '../../../people/accounts/index.ts'
import { readablePassword } from '../../../people/passwords/index.ts'
import {
  accepting,
  flag,
  integer,
  oneOf,
  optionalText,
  type Reader,
  required,
  text,
} from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import {
  effectiveRole,
  emailParam,
  megabytes,
  optionalFlag,
  type RuleMessages,
  strictFlag,
  type WireRole,
  wireRoles,
  withoutUndefined,
  withRuleMessages,
} from '../accounts/account-input.ts'
import { token } from '../accounts/accounts.schema.ts'
import { done, userFields, user as userSchema } from './accounts.schema.ts'
import { adminUser } from './admin.schema.ts'
import { adminRoute as route } from './services.ts'
import { adminUsersToWire, adminUserToWire } from './user-wire.ts'

const messages: RuleMessages = {
  'email-invalid': 'email invalid.',
  'name-too-long': 'Name is too long (maximum is 64 characters).',
}

const mostAtOnce = 1000

/** One of the roles on the wire; undefined when none was sent. */
const role: Reader<WireRole | undefined> = accepting({ type: 'string', enum: wireRoles }, (fields, name) =>
  text()(fields, name) === '' ? undefined : oneOf(wireRoles)(fields, name),
)

type AccountOrder = NonNullable<Parameters<Accounts['list']>[0]['orderBy']> | 'usage'

const orders: Record<string, AccountOrder> = {
  email: 'email',
  name: 'name',
  create_time: 'created',
  last_login: 'last-login',
  quota_total: 'quota',
  quota_usage: 'usage',
}

const orderBy: Reader<AccountOrder | undefined> = accepting(
  { type: 'string', enum: Object.keys(orders) },
  (fields, name) => {
    const sent = text()(fields, name)
    if (sent === '') return undefined
    if (!Object.hasOwn(orders, sent)) throw errorMessage(400, 'order_by invalid.')
    return orders[sent]
  },
)

const direction: Reader<'asc' | 'desc'> = oneOf(['asc', 'desc'], { default: 'desc' })

const source: Reader<string> = accepting(
  { type: 'string', enum: ['DB', 'LDAPImport'], default: 'DB' },
  (fields, name) => {
    const sent = text()(fields, name) || 'DB'
    if (sent !== 'DB' && sent !== 'LDAPImport') throw errorMessage(400, `source ${sent} invalid.`)
    return sent
  },
)

const rolesShownAs: Record<WireRole, readonly Account['role'][]> = {
  default: ['default', 'admin'],
  guest: ['guest'],
}

const fields = {
  is_staff: optionalFlag,
  is_active: strictFlag,
  role,
  name: optionalText(),
  quota_total: megabytes({ tooLow: 'Space quota is too low (minimum value is 0).' }),
  login_id: optionalText(),
  contact_email: optionalText(),
  department: optionalText(),
  institution: optionalText(),
  list_in_address_book: optionalFlag,
}

type Sent = { [K in keyof typeof fields]: ReturnType<(typeof fields)[K]> }

export const adminUserRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/admin/users/',
    auth: 'admin',
    summary: 'Lists accounts with their storage use, page by page.',
    compatibility: 'supported',
    callers: 'administrators',
    query: {
      page: integer({ default: 1, min: 1, max: 1_000_000, lenient: true }),
      per_page: integer({ default: 25, min: 1, max: mostAtOnce, lenient: true }),
      source,
      order_by: orderBy,
      direction,
      is_active: optionalFlag,
      role,
    },
    responses: () => ({
      200: json(
        kinds.record('AdminUsers', {
          data: kinds.array(userSchema),
          total_count: kinds.count('The number of accounts on all pages.'),
        }),
        'A page of accounts.',
      ),
    }),
    details: () => ({
      parameters: {
        source: { description: 'Where accounts come from. Only `DB` has some.' },
        order_by: { description: 'Sorts by this field.' },
        direction: { description: 'Of `order_by`.' },
        is_active: { description: 'Only accounts that can sign in, or only those that cannot.' },
        role: { description: 'Only accounts of this role.' },
      },
    }),
    async handle({ query, request }, services) {
      if (query.source !== 'DB') return { data: [], total_count: 0 }
      const order = query.order_by
      const wanted = {
        offset: (query.page - 1) * query.per_page,
        limit: query.per_page,
        ...(order && { descending: query.direction === 'desc' }),
        ...(query.is_active !== undefined && { active: query.is_active }),
        ...(query.role && { roles: rolesShownAs[query.role] }),
      }
      const { accounts, total } =
        order === 'usage'
          ? await services.quotas.listByUsage(wanted)
          : await services.accounts.list({ ...wanted, ...(order && { orderBy: order }) })
      return { data: await adminUsersToWire(accounts, services, request.baseUrl), total_count: total }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/admin/users/',
    auth: 'admin',
    summary:
      'Creates an account. With `invite`, the user chooses the password through a link that is mailed.',
    compatibility: 'supported',
    body: { email: required(), password: optionalText(), invite: flag({ default: false }), ...fields },
    responses: () => ({
      200: json(
        kinds.record('CreatedUser', { ...adminUser, add_user_tip: kinds.text('A sentence to show.') }),
        'The new account.',
      ),
    }),
    details: () => ({
      parameters: {
        ...userFields,
        email: { description: 'The id of the account, in the form of an e-mail address.' },
        password: { description: 'Required without `invite`.' },
        invite: { description: 'Mails a link with which the user chooses a password.' },
      },
    }),
    async handle({ user, body, request }, services) {
      const { email, invite } = body
      if (invite && !services.outbox.isConfigured) throw errorMessage(400, 'This server sends no mail.')
      // Nobody knows the first password of an invited account.
      const password = invite ? readablePassword() : body.password
      if (!password) throw errorMessage(400, 'password required.')
      const changes = changesIn(body, undefined)
      const by = auditActor(user, request)
      const made = services.accounts.create({ ...changes, email, password }, by, async (tx, account) => {
        if (invite) await services.accountTokens.invite(tx, account, user)
      })
      const account = await withRuleMessages(made, messages)
      return {
        ...(await adminUserToWire(account, services, request.baseUrl)),
        add_user_tip: `Successfully added user ${account.email}.`,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/users/:email/',
    auth: 'admin',
    summary: 'Returns one account with its storage use.',
    compatibility: 'supported',
    params: { email: emailParam },
    responses: () => ({ 200: json(userSchema, 'The account.') }),
    async handle({ params, request }, services) {
      const account = await services.accounts.get(params.email)
      return adminUserToWire(account, services, request.baseUrl)
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/admin/users/:email/',
    auth: 'admin',
    summary: 'Changes an account.',
    compatibility: { result: 'different', note: 'The last administrator cannot be demoted or deactivated.' },
    params: { email: emailParam },
    body: { password: optionalText(), ...fields },
    responses: () => ({
      200: json(
        kinds.record('ChangedUser', { ...adminUser, update_status_tip: kinds.text('A sentence to show.') }),
        'The changed account.',
      ),
    }),
    details: () => ({ parameters: userFields }),
    async handle({ user, params, body, request }, services) {
      const found = await services.accounts.get(params.email)
      const changes = { ...changesIn(body, found), ...(body.password && { password: body.password }) }
      const changed = services.accounts.update(found.email, changes, auditActor(user, request))
      const account = await withRuleMessages(changed, messages)
      return {
        ...(await adminUserToWire(account, services, request.baseUrl)),
        update_status_tip: `Successfully changed user ${account.email}.`,
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/admin/users/:email/',
    auth: 'admin',
    summary: 'Removes an account; its libraries go to the trash.',
    compatibility: { result: 'different', note: 'The last administrator cannot be removed.' },
    params: { email: emailParam },
    responses: () => done('The account was deleted.'),
    async handle({ user, params, request }, { accounts }) {
      await accounts.remove(params.email, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/admin/users/:email/reset-password/',
    auth: 'admin',
    summary: 'Resets the password of an account, returns it once, and signs the account out everywhere.',
    compatibility: 'supported',
    params: { email: emailParam },
    responses: () => ({
      200: json(
        kinds.record('NewPassword', {
          new_password: kinds.text('The password. It is not shown again.'),
          reset_tip: kinds.text('A sentence to show, which names it too.'),
        }),
        'The new password.',
      ),
    }),
    async handle({ user, params, request }, { accounts }) {
      const password = readablePassword()
      const assigned = { password, chosenByOwner: false }
      const { email } = await accounts.setPassword(params.email, assigned, auditActor(user, request))
      return { new_password: password, reset_tip: `The password of ${email} is now ${password}.` }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/admin/users/:email/second-factors/',
    auth: 'admin',
    summary:
      'Removes the second factors of an account, with its recovery codes and trusted devices, and mails its holder.',
    compatibility: 'addition',
    params: { email: emailParam },
    responses: () => done('The account signs in with its password alone.'),
    async handle({ user, params, request }, { accounts, secondFactors }) {
      const account = await accounts.get(params.email)
      const isRemoved = await secondFactors.remove(account, auditActor(user, request))
      if (!isRemoved) throw errorMessage(404, `User ${account.email} has no second factor.`)
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/search-user/',
    auth: 'admin',
    summary: 'Searches accounts by part of an id, name, contact e-mail or login id.',
    compatibility: 'supported',
    callers: 'administrators',
    sample: { query: { query: 'reader' } },
    query: { query: required() },
    responses: () => ({
      200: json(
        kinds.record('FoundAdminUsers', {
          user_list: kinds.array(userSchema),
          page_info: kinds.object({ has_next_page: kinds.literal(''), current_page: kinds.literal('') }),
        }),
        'The accounts that match, up to 1,000.',
      ),
    }),
    details: () => ({
      parameters: { query: { description: 'A part of the id, name, address or login id.' } },
    }),
    async handle({ query, request }, services) {
      const found = await services.accounts.search(query.query, { limit: mostAtOnce, onlyActive: false })
      return {
        user_list: await adminUsersToWire(found, services, request.baseUrl),
        page_info: { has_next_page: '', current_page: '' },
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/admin/generate-user-auth-token/',
    auth: 'admin',
    summary: 'Returns the API token of an account.',
    compatibility: 'supported',
    body: { email: required() },
    responses: () => ({ 200: json(token, 'The API token.') }),
    details: () => ({ parameters: { email: { description: 'The account.' } } }),
    async handle({ user, body, request }, { accounts, apiTokens }) {
      const email = parseEmail(body.email)
      if (email === undefined) throw errorMessage(400, 'email invalid.')
      const account = (await accounts.find(email)) ?? fail({ code: 'account-not-found', email })
      if (!account.active) throw errorMessage(400, `User ${email} is not active.`)
      return { token: await apiTokens.issue(account, auditActor(user, request)) }
    },
  }),
]

function changesIn(body: Sent, account: Account | undefined): AccountChanges {
  const { is_staff: isStaff, role, login_id: loginId } = body
  const keepsRole = isStaff === undefined && role === undefined
  return withoutUndefined({
    role: keepsRole ? undefined : effectiveRole(account?.role ?? 'default', isStaff, role),
    active: body.is_active,
    name: body.name,
    quota: body.quota_total,
    // An empty login id removes it, unlike in /api2/accounts/.
    loginId: loginId === '' ? null : loginId,
    contactEmail: body.contact_email,
    // Addresses set by an administrator count as verified.
    contactVerified: body.contact_email === undefined ? undefined : (true as const),
    department: body.department,
    institution: body.institution,
    listInAddressBook: body.list_in_address_book,
  })
}
