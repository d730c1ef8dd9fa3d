/** The key in localStorage while there are uploads: saves opening the database on every visit. */
export const FLAG = 'carrel.uploads'
