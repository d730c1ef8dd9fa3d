/** English strings of the link pages. They define the type of the other languages. */
export const en = {
  language: 'en',
  /** Format of dates. */
  locale: 'en-GB',
  skip: 'Skip to content',
  foot: 'Shared with Carrel. The person who created this link can disable it at any time.',
  /** Around the name of the person who shares. `until` precedes the last day of a link that expires. */
  sharedBy: ['Shared by ', ''] as readonly [string, string],
  until: ' until ',
  where: 'Path',

  bytes: (count: number) => (count === 1 ? '1 byte' : `${count} bytes`),
  folders: (count: number) => (count === 1 ? '1 folder' : `${count.toLocaleString('en')} folders`),
  files: (count: number) => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`),
  empty: 'Empty',
  emptyFolder: 'This folder is empty.',
  downloadAll: 'Download all',
  downloadOne: (name: string) => `Download ${name}`,
  pages: 'Pages',
  before: 'Previous',
  next: 'Next',
  pageOf: (page: number, pages: number) => `Page ${page} of ${pages}`,

  changed: 'modified',
  view: 'View',
  download: 'Download',
  content: 'Content',
  noPreview: 'No preview available for this type of file.',
  beginning: 'Only the beginning is shown. Download the file to see all of it.',
  beginningOnly: 'Only the beginning of the file is shown.',

  uploadTo: (name: string) => `Upload to ${name}`,
  uploadHint: 'You can upload files to this folder, but cannot see what is in it.',
  upload: 'Upload',
  uploads: 'Uploads',
  dropHere: 'Drop files or folders here, or',
  chooseFiles: 'Select files',
  needsScript: 'Uploading requires JavaScript, which is disabled in this browser.',

  passwordNeeded: 'Password required',
  passwordHint: 'This link is protected. Ask the person who sent it for the password.',
  password: 'Password',
  wrongPassword: 'Wrong password. Try again.',
  open: 'Open',

  noArchive: 'Download failed',
  packing: 'Preparing…',
  tooLarge: 'The folder is too large to download as an archive.',
  notPacked: 'The archive could not be created.',
  packed: (zipped: number, total: number) =>
    `${zipped} of ${total} files. The download starts automatically.`,
  progress: 'Progress',

  notForYouTitle: 'No access',
  nowhereTitle: 'Not found',
  waitTitle: 'Please wait a moment',
  failedTitle: 'Something went wrong',
  nowhere: 'The link may be mistyped, disabled or deleted, or what it led to no longer exists.',
  expired: 'This link has expired. Ask the person who sent it for a new one.',
  hasPassword: 'This link requires a password.',
  notForYou: 'Only certain people can open this link, and they must be signed in.',
  busy: (seconds: number) => `The server is busy. Try again in ${seconds} seconds.`,
  tooManyTries: (minutes: number) =>
    `Too many wrong passwords. Wait ${minutes === 1 ? '1 minute' : `${minutes} minutes`}, then try again.`,
  notPart: 'This item is not part of what is shared, or it no longer exists.',
  denied: 'This link does not allow that.',
  downloadEnded: 'This download has expired. Go back and start it again.',
  noRoom: 'Not enough storage space.',

  /** Strings of the script. It replaces a word in braces by a name or number. */
  script: {
    waiting: 'Waiting',
    saving: 'Saving…',
    done: 'Uploaded',
    uploadOf: 'Upload of {name}',
    toGo: '{count} left',
    uploaded: '{count} uploaded',
    failed: '{count} not uploaded',
    broke: 'Connection lost',
    noRoom: 'Not enough storage space',
    tooLarge: 'Larger than this server allows',
    badName: 'This name is not allowed',
    tooMany: 'Too many uploads. Try again in a minute.',
    closed: 'This link no longer works',
    wrong: 'Something went wrong',
    packing: 'Preparing…',
    packingOf: 'Preparing… {done} of {total} files',
    notPacked: 'The archive could not be created',
  },
}

export type PageTexts = typeof en
