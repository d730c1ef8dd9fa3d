import { json, kinds } from '../../../base/schemas/index.ts'
import { acceptedLanguage } from '../../../base/texts/index.ts'
import { throttled } from '../../../platform/http/index.ts'
import { rawText, required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { withRuleMessages } from './account-input.ts'
import { done } from './accounts.schema.ts'
import { signInRoute as route } from './services.ts'

const INVALID = 'This link has expired or was used already.'

/** A forgotten password, and links in mails. Whoever has the token of a mail needs no sign-in. */
export const passwordResetRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/password-reset/',
    auth: 'none',
    limit: 'anonymous',
    summary:
      'Mails a link to choose a new password to the owner of an account. The response is the same if there is no such account.',
    compatibility: 'addition',
    body: { email: required() },
    responses: () => done('If there is such an account, a mail is sent to it.'),
    details: () => ({
      parameters: { email: { description: 'The account.' } },
    }),
    async handle({ body, request }, { accountTokens, outbox }) {
      if (!outbox.isConfigured) throw errorMessage(400, 'This server sends no mail.')
      const { address, network } = request
      const wait = await accountTokens.throttle(body.email, network)
      if (wait !== undefined) throw throttled(wait)
      const language = acceptedLanguage(request.headers['accept-language'])
      await accountTokens.requestReset(body.email, language, address)
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/password-reset/check/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns the account and the purpose of a token that was sent by mail.',
    compatibility: 'addition',
    body: { token: required() },
    responses: () => ({
      200: json(
        kinds.record('AccountTokenPurpose', {
          email: kinds.account,
          purpose: kinds.oneOfWords(['invitation', 'password-reset', 'contact']),
        }),
        'The account and the purpose of the token.',
      ),
    }),
    async handle({ body }, { accountTokens }) {
      const found = await accountTokens.find(body.token)
      if (found === undefined) throw errorMessage(400, INVALID)
      return { email: found.account.email, purpose: found.purpose }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/password-reset/confirm/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Sets the password of an account with a token that was sent by mail, and signs out everywhere.',
    compatibility: 'addition',
    body: { token: required(), new_password: rawText() },
    responses: () => ({
      200: json(
        kinds.record('PasswordChosen', { success: kinds.literal(true), email: kinds.account }),
        'The password was changed.',
      ),
    }),
    details: () => ({
      parameters: {
        token: { description: 'The token in the link of the mail.' },
        new_password: { required: true, description: 'The new password.' },
      },
    }),
    async handle({ body, request }, { accountTokens }) {
      if (!body.new_password) throw errorMessage(400, 'New password invalid')
      const set = accountTokens.choosePassword(body.token, body.new_password, request.address)
      const account = await withRuleMessages(set, { 'password-too-long': 'New password invalid' })
      return { success: true, email: account.email }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/confirm-contact-email/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Marks the contact address of an account as verified, with a token that was sent to it.',
    compatibility: 'addition',
    body: { token: required() },
    responses: () => ({
      200: json(
        kinds.record('ContactVerified', {
          success: kinds.literal(true),
          contact_email: kinds.contactEmail,
        }),
        'The address is verified.',
      ),
    }),
    async handle({ body }, { accountTokens }) {
      const account = await withRuleMessages(accountTokens.confirmContact(body.token))
      return { success: true, contact_email: account.contactEmail }
    },
  }),
]
