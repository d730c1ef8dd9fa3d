/**
 * What clients are told if a commit was sent, and neither its response nor a later look at the database says whether it was carried out. Its status is 504:
 * a client may repeat what was refused with 503, because nothing was done.
 */
export const OUTCOME_UNKNOWN_TEXT =
  'The database did not answer in time, so it is not known whether the change was made. Look before you repeat it.'
