/** Messages of the server, recognized by their text. The API has no error codes, and its texts are English. */

const patterns = [
  ['confirm', /^this has to be confirmed with/i],
  ['wrong-password', /^the current password is wrong/i],
  ['short-password', /^password must have at least (\d+) characters/i],
  ['common-password', /^password is too common/i],
  ['permission', /^(?:permission denied|you do not have permission|access token not found)/i],
  ['locked', /^file is (?:already )?locked|^you can not unlock/i],
  ['not-locked', /^file is not locked/i],
  ['quota', /out of quota|quota is full/i],
  ['no-account', /^user (\S+) not found/i],
  ['name', /name invalid|^name can only contain/i],
  ['same-name', /new name is the same/i],
  ['too-many-names', /^too many files with same name/i],
  ['into-itself', /^can not move folder/i],
  ['changed-meanwhile', /changed while it was being moved/i],
  ['canceled', /task was canceled/i],
  ['locked-library', /has not been decrypted/i],
  ['encrypted', /^an encrypted library can not|^the password of a library of encryption/i],
  ['read-only-server', /cannot save anything at the moment/i],
  ['outcome-unknown', /not known whether the change was made/i],
  [
    'too-many',
    /can (?:have|be|write) at most|at most \d+ files|exceeds the limit|no more than|^too many (?:unfinished|deliveries)/i,
  ],
  ['too-often', /request was throttled|^the server is busy|^too many files are being read/i],
  ['user-exists', /^(?:user|login id) .* already exists/i],
  ['last-administrator', /last administrator/i],
  ['group-exists', /already a group with that name/i],
  ['already-shared', /has been shared to|can not be shared to owner/i],
  ['link-expired', /link is expired/i],
  ['exists', /already exists?\b|webhook exists/i],
  ['unreadable', /^the file |failed to generate thumbnail/i],
  ['not-found', /not found|does not exist|no such/i],
  ['server', /^internal server error/i],
  ['invalid', /invalid/i],
] as const

type ErrorCode = (typeof patterns)[number][0]

/** The code of a known message, by which it is translated. */
export function errorCodeOf(message: string): ErrorCode | undefined {
  return patterns.find(([, pattern]) => pattern.test(message))?.[0]
}

/** The translated message; undefined if it is unknown. `{0}` stands for the name that the message contains. */
export function translateError(
  message: string,
  texts: Readonly<Record<ErrorCode, string>>,
): string | undefined {
  const code = errorCodeOf(message)
  const pattern = patterns.find(([name]) => name === code)?.[1]
  return code && texts[code].replace('{0}', () => pattern?.exec(message)?.[1] ?? '')
}
