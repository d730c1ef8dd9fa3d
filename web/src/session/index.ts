export { ClientLogin, ConfirmAddress, ForgotPassword, SetPassword } from './lazy.ts'
export { signIn, signOut, signOutEverywhere, useSignedIn } from './session.tsx'
export { SignIn } from './sign-in.tsx'
