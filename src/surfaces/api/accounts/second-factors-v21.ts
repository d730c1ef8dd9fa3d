import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { integer, required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { done, recoveryCodes, totpOffer, trustedDevice } from './accounts.schema.ts'
import { credentialRoute as route } from './services.ts'
import { currentPassword } from './token-input.ts'

const path = '/api/v2.1/second-factors/'
const CONFIRMED =
  'A sign-in with the password in the last ten minutes or `current_password` is required, which takes a code of the app, too.'

/** The authenticator app, the recovery codes and the trusted devices of an account. */
export const secondFactorRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Returns which second factors the caller has, and the devices that need no code.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.record('SecondFactors', {
          totp: kinds.anyOf([
            kinds.object({ created_at: kinds.isoTime, last_used_at: kinds.orNull(kinds.isoTime) }),
            kinds.nothing(),
          ]),
          recovery_codes: kinds.count('The number of recovery codes that are left.'),
          trusted_devices: kinds.array(trustedDevice),
          is_required: kinds.flag('Whether the server demands a second factor from this account.'),
          due_at: kinds.orNull(kinds.isoTime),
        }),
        'The second factors. `due_at` is when the account cannot sign in without one any more.',
      ),
    }),
    async handle({ user }, { secondFactors }) {
      const {
        totp,
        recoveryCodes: left,
        trustedDevices,
        isRequired,
        dueAt,
      } = await secondFactors.describe(user)
      return {
        totp: totp ? { created_at: isoTime(totp.createdAt), last_used_at: orNull(totp.lastUsedAt) } : null,
        recovery_codes: left,
        trusted_devices: trustedDevices.map((device) => ({
          id: device.key,
          user_agent: device.userAgent,
          last_login_ip: device.address,
          created_at: isoTime(device.createdAt),
          last_accessed: isoTime(device.lastUsedAt),
          expires_at: isoTime(device.expiresAt),
        })),
        is_required: isRequired,
        due_at: user.hasSecondFactor ? null : orNull(dueAt),
      }
    },
  }),
  route({
    method: 'POST',
    path: `${path}totp/`,
    auth: 'user',
    summary: 'Returns a new secret for an authenticator app. It takes effect with its first code.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({ 200: json(totpOffer, 'The secret. Nothing is changed yet.') }),
    handle: ({ user, request }, { secondFactors }) => secondFactors.offer(user, siteName(request.baseUrl)),
  }),
  route({
    method: 'PUT',
    path: `${path}totp/`,
    auth: 'user',
    summary: `Sets up an authenticator app with its first code, or replaces the one before. ${CONFIRMED}`,
    compatibility: 'addition',
    body: { setup: required(), code: required(), current_password: currentPassword },
    responses: () => ({ 200: json(recoveryCodes, 'The app is set up. The codes are not shown again.') }),
    details: () => ({
      parameters: {
        setup: { description: 'The `setup` that came with the secret, at most an hour old.' },
        code: { description: 'The code that the app shows.' },
      },
    }),
    async handle({ user, body, request }, { confirmations, secondFactors }) {
      await confirmations.require(user, request, body.current_password)
      const codes = await secondFactors.addApp(user, body, auditActor(user, request))
      if (codes === undefined) throw errorMessage(400, 'code invalid.')
      return { recovery_codes: [...codes] }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary: `Removes the second factors of the caller, and its recovery codes and trusted devices. ${CONFIRMED}`,
    compatibility: 'addition',
    body: { current_password: currentPassword },
    responses: () => done('The account signs in with its password alone.'),
    async handle({ user, body, request }, { confirmations, secondFactors }) {
      await confirmations.require(user, request, body.current_password)
      if (secondFactors.isRequiredOf(user)) throw errorMessage(400, 'A second factor is required.')
      await secondFactors.remove(user, auditActor(user, request))
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: `${path}recovery-codes/`,
    auth: 'user',
    summary: `Replaces the recovery codes of the caller. ${CONFIRMED}`,
    compatibility: 'addition',
    body: { current_password: currentPassword },
    responses: () => ({ 200: json(recoveryCodes, 'The new codes. They are not shown again.') }),
    async handle({ user, body, request }, { confirmations, secondFactors }) {
      await confirmations.require(user, request, body.current_password)
      const codes = await secondFactors.makeRecoveryCodes(user, auditActor(user, request))
      if (codes === undefined) throw errorMessage(400, 'There is no second factor.')
      return { recovery_codes: [...codes] }
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}trusted-devices/:id/`,
    auth: 'user',
    summary: 'Ends the trust in a device: its next sign-in needs a code. Its session goes on.',
    compatibility: 'addition',
    params: { id: integer({ min: 1 }) },
    responses: () => done('The device needs a code at its next sign-in.'),
    async handle({ user, params, request }, { secondFactors }) {
      if (await secondFactors.endTrust(user, params.id, auditActor(user, request))) return { success: true }
      throw errorMessage(404, `Device ${params.id} not found.`)
    },
  }),
]

/** The name of the server in authenticator apps, which list several. */
export function siteName(baseUrl: string): string {
  return `Carrel (${new URL(baseUrl).host})`
}

function orNull(time: number | undefined): string | null {
  return time === undefined ? null : isoTime(time)
}
