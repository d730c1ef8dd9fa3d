/** What the pages say in English, from which the other languages take their shape. */
export const en = {
  language: 'en',
  /** How dates are written. */
  locale: 'en-GB',
  skip: 'Skip to content',
  foot: 'Shared with Carrel. Whoever made this link can end it at any time.',
  /** Around the name of who shares, and before the last day if there is one. */
  sharedBy: ['Shared by ', ''] as readonly [string, string],
  until: ' until ',
  where: 'Where this is',

  bytes: (count: number) => (count === 1 ? '1 byte' : `${count} bytes`),
  folders: (count: number) => (count === 1 ? '1 folder' : `${count.toLocaleString('en')} folders`),
  files: (count: number) => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`),
  empty: 'Empty',
  emptyFolder: 'There is nothing in this folder yet.',
  downloadAll: 'Download all',
  downloadOne: (name: string) => `Download ${name}`,
  pages: 'Pages',
  before: 'Before',
  next: 'Next',
  pageOf: (page: number, pages: number) => `Page ${page} of ${pages}`,

  changed: 'changed',
  view: 'View',
  download: 'Download',
  content: 'Content',
  noPreview: 'There is no preview for this kind of file.',
  beginning: 'This is the beginning. Download the file to read all of it.',
  beginningOnly: 'This is the beginning of the file.',

  uploadTo: (name: string) => `Upload to ${name}`,
  uploadHint: 'You can add files to this folder, but not see what is in it.',
  upload: 'Upload',
  uploads: 'Uploads',
  dropHere: 'Drop files or folders here, or',
  chooseFiles: 'Choose files',
  needsScript: 'Uploading needs JavaScript, which is switched off in this browser.',

  passwordNeeded: 'Password needed',
  passwordHint: 'Whoever sent you this link has set a password for it.',
  password: 'Password',
  wrongPassword: 'That is not the password.',
  open: 'Open',

  noArchive: 'There is no archive',
  packing: 'Packing …',
  tooLarge: 'The folder is too large to be packed.',
  notPacked: 'It could not be packed.',
  packed: (zipped: number, total: number) =>
    `${zipped === 1 ? '1 file' : `${zipped} files`} of ${total}. The download starts by itself.`,
  progress: 'Progress',

  notForYouTitle: 'This is not open to you',
  nowhereTitle: 'This link leads nowhere',
  waitTitle: 'Please wait a moment',
  failedTitle: 'That did not work',
  nowhere: 'It may have been mistyped or ended by whoever made it, or what it led to is gone.',
  expired: 'It had a last day, and that has passed. Ask whoever sent it for a new one.',
  hasPassword: 'This link has a password.',
  notForYou: 'This link is for certain people only, who have to be signed in to open it.',
  busy: (seconds: number) => `There is too much to do just now. Try again in ${seconds} seconds.`,
  tooManyTries: (minutes: number) =>
    `Too many wrong passwords. Please wait ${minutes} minutes and try again.`,
  notPart: 'This is not, or no longer, part of what was shared.',
  denied: 'Whoever made this link does not allow that.',
  downloadEnded: 'That download has ended. Go back and start it again.',
  noRoom: 'There is no room left for more files.',

  /** What the script says; a name or number is put in the place of braces. */
  script: {
    waiting: 'Waiting',
    saving: 'Saving …',
    done: 'Done',
    uploadOf: 'Upload of {name}',
    toGo: '{count} to go',
    uploaded: '{count} uploaded',
    failed: '{count} failed',
    broke: 'The connection broke',
    noRoom: 'There is no room left',
    tooLarge: 'The file is too large',
    badName: 'The name is not allowed',
    tooMany: 'Too many at once; try again in a minute',
    closed: 'The link is closed',
    wrong: 'That did not work',
    packing: 'Packing …',
    packingOf: 'Packing … {done} of {total}',
    notPacked: 'It could not be packed',
  },
}

export type PageTexts = typeof en
