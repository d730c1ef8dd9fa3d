import type account from './en/account.json'
import type activity from './en/activity.json'
import type admin from './en/admin.json'
import type annotations from './en/annotations.json'
import type archives from './en/archives.json'
import type commands from './en/commands.json'
import type common from './en/common.json'
import type files from './en/files.json'
import type history from './en/history.json'
import type libraries from './en/libraries.json'
import type onboarding from './en/onboarding.json'
import type photos from './en/photos.json'
import type search from './en/search.json'
import type session from './en/session.json'
import type sharing from './en/sharing.json'
import type shell from './en/shell.json'
import type uploads from './en/uploads.json'
import type viewer from './en/viewer.json'
import type visitors from './en/visitors.json'
import type { messageArguments } from './message-arguments.ts'

interface EnglishMessages {
  readonly account: typeof account
  readonly activity: typeof activity
  readonly admin: typeof admin
  readonly annotations: typeof annotations
  readonly archives: typeof archives
  readonly commands: typeof commands
  readonly common: typeof common
  readonly files: typeof files
  readonly history: typeof history
  readonly libraries: typeof libraries
  readonly onboarding: typeof onboarding
  readonly photos: typeof photos
  readonly search: typeof search
  readonly session: typeof session
  readonly sharing: typeof sharing
  readonly shell: typeof shell
  readonly uploads: typeof uploads
  readonly viewer: typeof viewer
  readonly visitors: typeof visitors
}

/** The texts of a language by area: the keys are those of the English messages, the parameters those of `message-arguments.ts`. */
export type Texts = TextsOf<EnglishMessages, typeof messageArguments>

/** A string for a message without a signature, else a function. A signature on a group is the one of all messages in it. */
type TextsOf<Messages, Signatures> = {
  readonly [Key in keyof Messages]: TextOf<
    Messages[Key],
    Signatures extends string ? Signatures : Key extends keyof Signatures ? Signatures[Key] : undefined
  >
}

type TextOf<Message, Signature> = Message extends string
  ? Signature extends string
    ? (...values: Parameters<Signature>) => string
    : string
  : TextsOf<Message, Signature>

/** `'count: number, name'` is `[number, string]`. */
type Parameters<Signature extends string> = Signature extends `${infer First}, ${infer Rest}`
  ? [Parameter<First>, ...Parameters<Rest>]
  : [Parameter<Signature>]

type Parameter<Declaration extends string> = Declaration extends `${string}: number` ? number : string
