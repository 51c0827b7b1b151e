// The one connection of this page, and questions about the text in the editor.

import type { Connection, Params } from "./connection";
import { path } from "./state";

let line: Connection;

export function connect(connection: Connection): void {
  line = connection;
}
export const connection = (): Connection => line;

/** The address of a path below the folder, as both sides write it. */
export const uriOf = (p: string): string => "file:///" + p.split("/").map(encodeURIComponent).join("/");
export const pathOf = (uri: string): string => decodeURIComponent(uri.replace(/^file:\/\/\//, ""));

export const host = <T = any>(method: string, params: Params = {}): Promise<T> => line.request<T>(`host/${method}`, params);

/** A question about the text in the editor. */
export function ask<T = any>(method: string, params: Params = {}): Promise<T> {
  return line.request<T>(method, { textDocument: { uri: uriOf(path.value ?? "") }, ...params });
}
