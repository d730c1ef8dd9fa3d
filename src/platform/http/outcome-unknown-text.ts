/**
 * The error message for a transaction in doubt: the commit was sent, its response was lost, and the receipt of the transaction could not be read. The status
 * is 504, because 503 means that nothing was committed, so that clients retry.
 */
export const OUTCOME_UNKNOWN_TEXT =
  'The database did not answer in time, so it is not known whether the change was made. Look before you repeat it.'
