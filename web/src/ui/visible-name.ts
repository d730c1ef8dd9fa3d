/** Characters that embed, isolate or override a direction: with them `gpj.exe` can be shown as `exe.jpg`. */
const DIRECTING = /[\u202a-\u202e\u2066-\u2069]/g

/** A name as it is shown: a visible mark stands for what would direct its characters, as on the pages of links. */
export const visibleName = (name: string): string => name.replaceAll(DIRECTING, '\ufffd')
