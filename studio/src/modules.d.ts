declare module "*.limn" {
  const text: string;
  export default text;
}
declare module "*.css";
