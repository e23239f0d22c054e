/** The regulator in front of the servlets of an application: {@link weir.regulator.servlet.RegulatorFilter}. */
package weir.regulator.servlet;
