/** The library is loaded when an account first uses an authenticator app. */
const load = () => import('otpauth')

const STEP_SECONDS = 30
const SECRET_BYTES = 20
/** Clocks of phones may be off by a step. */
const STEPS_OFF = 1

/** A new secret, in Base32. */
export async function newTotpSecret(): Promise<string> {
  const { Secret } = await load()
  return new Secret({ size: SECRET_BYTES }).base32
}

/** What authenticator apps read from a QR code. */
export async function totpUri(secret: string, issuer: string, email: string): Promise<string> {
  const { Secret, TOTP } = await load()
  return new TOTP({ issuer, label: email, secret: Secret.fromBase32(secret) }).toString()
}

/** The time step that a code of six digits is for, about now (RFC 6238); undefined for a wrong code. */
export async function totpStep(secret: string, code: string, now: number): Promise<number | undefined> {
  const { Secret, TOTP } = await load()
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const off = totp.validate({ token: code, timestamp: now * 1000, window: STEPS_OFF })
  return off === null ? undefined : Math.floor(now / STEP_SECONDS) + off
}
