/** The regulator's numbers as Micrometer's meters. */
package weir.regulator.micrometer;
