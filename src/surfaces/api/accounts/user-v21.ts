import { json } from '../../../base/schemas/index.ts'
import { languages } from '../../../base/texts/index.ts'
import { auditActor, mailNoticesChoices } from '../../../people/accounts/index.ts'
import { throttled } from '../../../platform/http/index.ts'
import { oneOf, optional, optionalText, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { optionalFlag, withoutUndefined, withRuleMessages } from './account-input.ts'
import { userToWire } from './account-wire.ts'
import { done, profile } from './accounts.schema.ts'
import { credentialRoute as route } from './services.ts'
import { currentPassword } from './token-input.ts'

export const userRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/user/',
    auth: 'user',
    summary: "Returns the caller's profile.",
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(profile, 'The account.') }),
    handle: ({ user }) => userToWire(user),
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/user/',
    auth: 'user',
    summary:
      "Changes the caller's profile. A new `contact_email` requires a sign-in with the password in the last ten minutes or `current_password`, if the server sends mail.",
    compatibility: 'supported',
    callers: 'every account',
    sample: { form: { name: 'Somebody' } },
    body: {
      name: optionalText(),
      contact_email: optionalText(),
      telephone: optionalText(),
      list_in_address_book: optionalFlag,
      language: optional(oneOf(languages, 'language invalid.')),
      mail_notices: optional(oneOf(mailNoticesChoices, 'mail_notices invalid.')),
      current_password: currentPassword,
    },
    responses: () => ({ 200: json(profile, 'The changed account.') }),
    async handle({ user, body, request }, { accounts, accountTokens, activity, confirmations, outbox }) {
      const { contact_email: contact } = body
      // Once it is verified, a mail to this address sets a new password.
      const isNewAddress = outbox.isConfigured && contact !== undefined && contact !== user.contactEmail
      if (isNewAddress) await confirmations.require(user, request, body.current_password)
      const changes = withoutUndefined({
        name: body.name,
        contactEmail: body.contact_email,
        listInAddressBook: body.list_in_address_book,
        language: body.language,
        mailNotices: body.mail_notices,
      })
      const changed = accounts.update(user.email, changes, undefined, async (tx, account) => {
        if (changes.contactEmail === undefined) return
        await accountTokens.verifyContact(tx, account)
        if (!isNewAddress || account.contactEmail === '') return
        const { contactEmail: name } = account
        await activity.credentials.ofAdded(tx, account, { kind: 'contact', name, address: request.address })
      })
      return userToWire(await withRuleMessages(changed))
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/user/reset-password/',
    auth: 'user',
    summary: "Changes the caller's password and signs out everywhere.",
    compatibility: 'supported',
    body: { old_password: text('Old password invalid'), new_password: text('New password invalid') },
    responses: () => done('The password was changed.'),
    async handle({ user, body, request }, { accounts, passwordChecks }) {
      const { old_password: older, new_password: newer } = body
      if (older === '') throw errorMessage(400, 'Old password invalid')
      if (newer === '') throw errorMessage(400, 'New password invalid')
      if (older === newer) throw errorMessage(400, 'New password cannot be the same as old password')
      const { address, network, signal } = request
      const attempt = { kind: 'password-change', name: user.email, password: older } as const
      const outcome = await passwordChecks.check({ ...attempt, address, network, signal })
      if (outcome.kind === 'throttled') throw throttled(outcome.retryAfterSeconds)
      if (outcome.kind === 'wrong') throw errorMessage(400, 'Old password incorrect')
      const chosen = { password: newer, chosenByOwner: true }
      await withRuleMessages(accounts.setPassword(user.email, chosen, auditActor(user, request)), {
        'password-too-long': 'New password invalid',
      })
      return { success: true }
    },
  }),
]
